import { DEFAULT_LIMITS, type Http2Limits } from '../../../src/transport/http2/limits.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, same } from '../lib/expect.ts';
import { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { framesIn, SentFrames, shownFrames, Windows } from '../oracles/sent-frames.ts';
import { FrameGrammar } from './frame-grammar.ts';
import { Player, turn } from './frame-player.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const HEAD_BYTES = 4;
/** Bits of the first byte of an input. */
const NO_PREFACE = 1;
const NO_SETTINGS = 2;
const TIGHT = 4;
const CLOGGED = 8;
const WITH_TURNS = 16;
/** With more to send in one turn, what waits depends on when the turns end. */
const MOST_SENT = 200_000;
const NOW = 1000;

const TIGHT_LIMITS: Http2Limits = {
  ...DEFAULT_LIMITS,
  headerListBytes: 600,
  headerBlockBytes: 700,
  continuations: 2,
  frameBytes: 16_384,
  streams: 2,
  unansweredResets: { burst: 2, perSecond: 1 },
  provokedResets: { burst: 3, perSecond: 1 },
  pings: { burst: 3, perSecond: 1 },
  settings: { burst: 4, perSecond: 1 },
  emptyFrames: { burst: 2, perSecond: 1 },
  idleFrames: { burst: 3, perSecond: 1 },
  windowUpdates: { burst: 5, perSecond: 1 },
  sendQueueBytes: 100_000,
};

/** What a client may send to a connection, in one piece and in any pieces. */
export function framesTarget(): Target {
  const sink = new ByteSink();
  const block = new ByteSink();
  const counts = { calls: 0, ended: 0, goAways: 0, limits: 0, clogged: 0 };
  return {
    name: 'frames',
    sources: ['/src/transport/http2/'],
    tokens: TOKENS,
    slowMs: 60,
    counts: () => counts,
    generate(random: Random): Buffer {
      const options =
        (random.once(50) ? random.below(4) : 0) | (random.once(4) ? TIGHT : 0) | (random.once(8) ? CLOGGED : 0);
      sink
        .clear()
        .byte(options | (random.once(6) ? WITH_TURNS : 0))
        .uint(random.next(), 3);
      new FrameGrammar(sink, block, random).frames();
      return sink.done();
    },
    async show(input: Buffer): Promise<string> {
      const player = new Player(limitsOf(input), ((input[0] ?? 0) & CLOGGED) !== 0);
      player.connection.read(bytesOf(input), NOW);
      await player.finish().catch(() => undefined);
      const sent = Buffer.concat(player.socket.written);
      return [
        'in:',
        ...shownFrames(input.subarray(HEAD_BYTES)),
        'out:',
        ...shownFrames(sent),
        ...player.calls.map(String),
      ].join('\n');
    },
    async check(input: Buffer): Promise<void> {
      const options = input[0] ?? 0;
      const bytes = bytesOf(input);
      const limits = limitsOf(input);
      const clogged = (options & CLOGGED) !== 0;
      const whole = new Player(limits, clogged);
      whole.connection.read(bytes, NOW);
      await whole.finish();
      const sent = sentBy(whole);

      const pieces = new Player(limits, clogged);
      await playPieces(
        pieces,
        bytes,
        input.length < HEAD_BYTES ? 0 : input.readUIntBE(1, 3),
        (options & WITH_TURNS) !== 0,
      );
      await pieces.finish();
      sentBy(pieces);

      for (const call of whole.calls) {
        counts.calls++;
        if (call.includes('half')) counts.ended++;
      }
      counts.goAways += whole.goAways;
      counts.limits += whole.limits.length;
      if (clogged) counts.clogged++;
      if (clogged || sent.length > MOST_SENT) return;
      alike('the same calls, however the bytes are cut', pieces.calls, whole.calls);
      alike('the same limits', pieces.limits, whole.limits);
      alike('the same answer', Buffer.concat(pieces.socket.written), sent);
    },
  };
}

function bytesOf(input: Buffer): Buffer {
  const options = input[0] ?? 0;
  return Buffer.concat([
    ...((options & NO_PREFACE) !== 0 ? [] : [PREFACE]),
    ...((options & NO_SETTINGS) !== 0 ? [] : [SETTINGS]),
    input.subarray(HEAD_BYTES),
  ]);
}

function limitsOf(input: Buffer): Http2Limits {
  return ((input[0] ?? 0) & TIGHT) !== 0 ? TIGHT_LIMITS : DEFAULT_LIMITS;
}

function sentBy(player: Player): Buffer {
  const sent = Buffer.concat(player.socket.written);
  const { frames, end } = framesIn(sent);
  same('whole frames', end, sent.length);
  const checked = new SentFrames();
  for (const frame of frames) checked.take(frame, null);
  return sent;
}

/** Piece by piece; every second time cut where frames end, so that it is known what the client had granted. */
async function playPieces(player: Player, bytes: Buffer, seed: number, turns: boolean): Promise<void> {
  if (seed % 2 === 0) return playFrames(player, bytes, turns);
  const random = new Random(seed);
  // Byte by byte now and then: that is where most of the time would go.
  const most = random.once(16) ? 1 : 1 + Math.ceil(bytes.length / 20) + random.size(500);
  for (let at = 0; at < bytes.length; ) {
    const to = Math.min(bytes.length, at + 1 + random.below(most));
    // In memory of its own, which is spoilt afterwards unless a handler was given it.
    player.connection.read(Buffer.from(bytes.subarray(at, to)), NOW);
    if (turns) await turn();
    at = to;
  }
}

async function playFrames(player: Player, bytes: Buffer, turns: boolean): Promise<void> {
  const windows = new Windows();
  const checked = new SentFrames();
  let taken = 0;
  let at = bytes.indexOf(PREFACE) === 0 ? PREFACE.length : 0;
  player.connection.read(bytes.subarray(0, at), NOW);
  while (at < bytes.length) {
    const length = at + 9 <= bytes.length ? 9 + bytes.readUIntBE(at, 3) : bytes.length - at;
    const piece = bytes.subarray(at, Math.min(bytes.length, at + length));
    for (const frame of framesIn(piece).frames) windows.take(frame);
    player.connection.read(piece, NOW);
    if (turns) await turn();
    const written = player.socket.written.slice(taken);
    taken += written.length;
    for (const frame of framesIn(Buffer.concat(written)).frames) checked.take(frame, windows);
    at += length;
  }
}

const TOKENS = [
  '000000040100000000',
  '000004080000000000000003e8',
  '000008060000000000' + '0102030405060708',
  '000005000000000001' + '0000000000',
  '000000000100000001',
  '00000403000000000100000008',
  '000006040000000000000400000000',
  '0000000904000000' + '01',
  '00000001050000000' + '3',
  '000005020000000001' + '0000000110',
  '0000080700000000000000000000000000',
].map((hex) => Buffer.from(hex, 'hex'));
