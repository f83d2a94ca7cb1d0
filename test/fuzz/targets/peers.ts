import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { grpcJsTransport } from '../../../src/transport/grpc-js.ts';
import { http2Transport } from '../../../src/transport/http2/http2-transport.ts';
import type { Method, Transport } from '../../../src/transport/transport.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, fail } from '../lib/expect.ts';
import { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { PlainHpack } from '../oracles/hpack.ts';
import { type Frame, framesIn, shownFrames } from '../oracles/sent-frames.ts';
import { FrameGrammar, PATHS } from './frame-grammar.ts';
import { Handler, MAX_MESSAGE } from './frame-player.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const TABLE_BYTES = 4096;
const PATIENCE_MS = 5000;
const SEED_BYTES = 4;

/** What a client got for one stream. */
interface Answer {
  status: string;
  body: Buffer[];
  grpcStatus: string;
  grpcMessage: string;
  over: boolean;
  /** Error code of RST_STREAM, 0 for none. */
  reset: number;
}

/**
 * The same good client before our transport and before grpc-js, that is nghttp2: every call has to come out the same. An input is
 * the seed of what the client does.
 */
export function peersTarget(): Target {
  const sink = new ByteSink();
  const block = new ByteSink();
  const counts = { calls: 0, resets: 0, bytes: 0 };
  const scenario = (input: Buffer) => {
    const random = new Random(input.length < SEED_BYTES ? 0 : input.readUInt32BE(0), input.length);
    const grammar = new FrameGrammar(sink.clear(), block, random, true);
    grammar.frames();
    grammar.finish();
    return { grammar, bytes: Buffer.concat([PREFACE, SETTINGS, sink.done()]) };
  };
  let started: Promise<readonly [Server, Server]> | null = null;
  return {
    name: 'peers',
    sources: ['/src/transport/http2/'],
    tokens: [],
    slowMs: 5000,
    counts: () => counts,
    generate: (random: Random) => sink.clear().uint(random.next(), SEED_BYTES).done(),
    show: async (input: Buffer) => shownFrames(scenario(input).bytes.subarray(PREFACE.length)).join('\n'),
    async check(input: Buffer): Promise<void> {
      started ??= Promise.all([serve(http2Transport), serve(grpcJsTransport)]);
      const [ours, stock] = await started;
      const { grammar, bytes } = scenario(input);
      const wanted = [...grammar.opened].filter((id) => !grammar.reset.has(id));
      counts.calls += grammar.opened.size;
      counts.resets += grammar.reset.size;
      counts.bytes += bytes.length;
      const [mine, theirs] = await Promise.all([play(ours.port, bytes, wanted), play(stock.port, bytes, wanted)]);
      for (const id of wanted) alike(`stream ${id}`, readable(mine.get(id)), readable(theirs.get(id)));
    },
    async close(): Promise<void> {
      for (const { transport } of (await started) ?? []) await transport.close();
    },
  };
}

interface Server {
  readonly transport: Transport;
  readonly port: number;
}

async function serve(factory: typeof http2Transport): Promise<Server> {
  const methods: Method[] = PATHS.map((path) => ({
    path,
    open: (call) => {
      if (path === '/f/early') call.end(5, 'früh: 50 %');
      return new Handler(path, call, [path]);
    },
  }));
  const transport = factory(methods, {
    maxReceiveBytes: MAX_MESSAGE,
    onHandlerError: (_path, error) => fail(String(error)),
  });
  const name = await transport.listen({ host: '127.0.0.1', port: 0 });
  return { transport, port: Number(name.slice(name.lastIndexOf(':') + 1)) };
}

/** Plays `bytes`, and waits until the server has ended all of `wanted`. */
function play(port: number, bytes: Buffer, wanted: readonly number[]): Promise<Map<number, Answer>> {
  const answers = new Map<number, Answer>();
  if (wanted.length === 0) return Promise.resolve(answers);
  const hpack = new PlainHpack(TABLE_BYTES);
  let left = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytes));
    const timer = setTimeout(() => {
      const open = wanted.filter((id) => answers.get(id)?.over !== true);
      socket.destroy(new Error(`streams that never end: ${open} on port ${port}`));
    }, PATIENCE_MS);
    socket.on('data', (piece: Buffer) => {
      left = Buffer.concat([left, piece]);
      const { frames, end } = framesIn(left);
      left = left.subarray(end);
      for (const frame of frames) take(frame, answers, hpack);
      if (wanted.every((id) => answers.get(id)?.over === true)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answers);
    });
  });
}

function take({ type, flags, id, payload }: Frame, answers: Map<number, Answer>, hpack: PlainHpack): void {
  if (type > 3) return;
  let answer = answers.get(id);
  if (answer === undefined) {
    answer = { status: '', body: [], grpcStatus: '', grpcMessage: '', over: false, reset: 0 };
    answers.set(id, answer);
  }
  if (type === 0) answer.body.push(payload);
  else if (type === 3) {
    answer.over = true;
    answer.reset = payload.readUInt32BE(0);
  } else if (type === 1) {
    const fields = hpack.read(payload, 0, payload.length) ?? fail('a header block');
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] === ':status') answer.status = fields[i + 1]!;
      if (fields[i] === 'grpc-status') answer.grpcStatus = fields[i + 1]!;
      if (fields[i] === 'grpc-message') answer.grpcMessage = decodeURIComponent(fields[i + 1]!);
    }
  }
  if (type !== 3 && (flags & 1) !== 0) answer.over = true;
}

/** Behind an answer a reset is a matter of taste (RFC 9113 8.1). */
function readable(answer: Answer | undefined): unknown {
  if (answer === undefined) return null;
  const { status, grpcStatus, over, reset } = answer;
  // grpc-js says OK in words, too.
  const grpcMessage = grpcStatus === '0' ? '' : answer.grpcMessage;
  const body = Buffer.concat(answer.body);
  const digest = createHash('sha1').update(body).digest('hex');
  return { status, grpcStatus, grpcMessage, over, bytes: body.length, digest, reset: grpcStatus === '' ? reset : 0 };
}
