/** What a server may send (RFC 9113), and what it was allowed to by the windows of its client. */
import { fail, same } from '../lib/expect.ts';
import { PlainHpack } from './hpack.ts';

const HEAD = 9;
const DEFAULT_WINDOW = 65_535;
const KNOWN_BLOCKS = new Map<string, Map<string, string>>();

interface Sent {
  state: 'idle' | 'headers' | 'ended' | 'reset';
  data: number;
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** Whole frames, and where they end. */
export function framesIn(bytes: Buffer): { frames: Frame[]; end: number } {
  const frames: Frame[] = [];
  let at = 0;
  while (at + HEAD <= bytes.length) {
    const to = at + HEAD + bytes.readUIntBE(at, 3);
    if (to > bytes.length) break;
    const id = bytes.readUInt32BE(at + 5);
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, id, payload: bytes.subarray(at + HEAD, to) });
    at = to;
  }
  return { frames, end: at };
}

/** For a reader. */
export function shownFrames(bytes: Buffer): string[] {
  return framesIn(bytes).frames.map(({ type, flags, id, payload }) => {
    const text = payload
      .subarray(0, 120)
      .toString('latin1')
      .replaceAll(/[^ -~]/g, '.');
    return `  type ${type} flags ${flags} stream ${id} length ${payload.length} ${text}`;
  });
}

/** Windows as the client gave them. */
export class Windows {
  connection = DEFAULT_WINDOW;
  initial = DEFAULT_WINDOW;
  frameBytes = 16_384;
  readonly #streams = new Map<number, number>();

  stream(id: number): number {
    return this.initial + (this.#streams.get(id) ?? 0);
  }

  /** A frame of the client. */
  take({ type, flags, id, payload }: Frame): void {
    if (type === 8 && payload.length === 4) {
      const bytes = payload.readUInt32BE(0) & 0x7fff_ffff;
      const stream = id & 0x7fff_ffff;
      if (stream === 0) this.connection += bytes;
      else this.#streams.set(stream, (this.#streams.get(stream) ?? 0) + bytes);
    } else if (type === 4 && (flags & 1) === 0) {
      for (let at = 0; at + 6 <= payload.length; at += 6) {
        const name = payload.readUInt16BE(at);
        if (name === 4) this.initial = payload.readUInt32BE(at + 2);
        if (name === 5) this.frameBytes = payload.readUInt32BE(at + 2);
      }
    }
  }
}

export class SentFrames {
  readonly #streams = new Map<number, Sent>();
  #begun = false;
  #gone = false;
  connectionData = 0;

  /** @param windows null where they are not known at this point */
  take(frame: Frame, windows: Windows | null): void {
    const { type, flags, id, payload } = frame;
    if (!this.#begun) same('SETTINGS come first', type, 4);
    this.#begun = true;
    if (this.#gone) fail('a frame after GOAWAY with an error', type);
    switch (type) {
      case 0:
        this.#data(id, payload.length, flags, windows);
        return;
      case 1:
        this.#headers(id, flags, payload);
        return;
      case 3:
        same('RST_STREAM size', payload.length, 4);
        if (this.#of(id).state === 'reset') fail('RST_STREAM twice', id);
        this.#of(id).state = 'reset';
        return;
      case 4:
        if (payload.length % 6 !== 0 || id !== 0) fail('SETTINGS are well formed');
        return;
      case 6:
        if (payload.length !== 8 || id !== 0) fail('PING is well formed');
        return;
      case 7:
        if (payload.length < 8 || id !== 0) fail('GOAWAY is well formed');
        this.#gone = payload.readUInt32BE(4) !== 0;
        return;
      case 8: {
        const bytes = payload.length === 4 ? payload.readUInt32BE(0) : 0;
        if (bytes === 0 || bytes > 0x7fff_ffff) fail('WINDOW_UPDATE is well formed');
        if (id !== 0 && this.#of(id).state === 'reset') fail('WINDOW_UPDATE after RST_STREAM', id);
        return;
      }
      default:
        fail('a frame that a server does not send', type);
    }
  }

  /** State and bytes of each stream. */
  get streams(): ReadonlyMap<number, Sent> {
    return this.#streams;
  }

  #data(id: number, length: number, flags: number, windows: Windows | null): void {
    const sent = this.#of(id);
    same('DATA between headers and trailers', sent.state, 'headers');
    sent.data += length;
    this.connectionData += length;
    if ((flags & 1) !== 0) fail('DATA never ends a call: trailers do', id);
    if (windows === null || length === 0) return;
    if (length > windows.frameBytes) fail('a frame above the size that the client takes', length, windows.frameBytes);
    if (sent.data > windows.stream(id)) fail('the window of a stream', sent.data, windows.stream(id));
    if (this.connectionData > windows.connection) fail('the window', this.connectionData, windows.connection);
  }

  #headers(id: number, flags: number, payload: Buffer): void {
    const sent = this.#of(id);
    if ((flags & 4) === 0) fail('a header block in one frame');
    const fields = fieldsOf(payload);
    const ends = (flags & 1) !== 0;
    if (sent.state === 'idle') {
      if (!fields.has(':status')) fail('headers have a status', [...fields]);
    } else {
      same('trailers behind headers', sent.state, 'headers');
      if (!ends || fields.has(':status')) fail('trailers end the stream', [...fields]);
    }
    if (ends && !fields.has('grpc-status')) fail('a call ends with its status', [...fields]);
    sent.state = ends ? 'ended' : 'headers';
  }

  #of(id: number): Sent {
    let sent = this.#streams.get(id);
    if (sent === undefined) {
      sent = { state: 'idle', data: 0 };
      this.#streams.set(id, sent);
    }
    return sent;
  }
}

/** Our blocks change no table, so the same bytes are the same fields. */
function fieldsOf(block: Buffer): Map<string, string> {
  const key = block.toString('latin1');
  const known = KNOWN_BLOCKS.get(key);
  if (known !== undefined) return known;
  const hpack = new PlainHpack(0);
  const list = hpack.read(block, 0, block.length) ?? fail('our header block is HPACK', block);
  same('our blocks leave the table alone', hpack.tableBytes, 0);
  const fields = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) fields.set(list[i]!, list[i + 1]!);
  if (KNOWN_BLOCKS.size < 1000) KNOWN_BLOCKS.set(key, fields);
  return fields;
}
