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
/** The server drains when half of the bytes have come. */
const DRAINS = 32;
/** Time passes at the end, as for a client that says no more. */
const WAITS = 64;
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
  const counts = { drained: 0, calls: 0, ended: 0, goAways: 0, limits: 0, clogged: 0 };
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
        .byte(
          options | (random.once(6) ? WITH_TURNS : 0) | (random.once(6) ? DRAINS : 0) | (random.once(8) ? WAITS : 0),
        )
        .uint(random.next(), 3);
      new FrameGrammar(sink, block, random).frames();
      return sink.done();
    },
    async show(input: Buffer): Promise<string> {
      const [whole, pieces] = [
        new Player(limitsOf(input), isClogged(input)),
        new Player(limitsOf(input), isClogged(input)),
      ];
      await playWhole(whole, input).catch(() => undefined);
      await playCut(pieces, input).catch(() => undefined);
      const lines = ({ socket, calls }: Player) => [
        ...shownFrames(Buffer.concat(socket.written)),
        ...calls.map(String),
      ];
      const sent = shownFrames(input.subarray(HEAD_BYTES));
      return ['in:', ...sent, 'out:', ...lines(whole), 'out, cut:', ...lines(pieces)].join('\n');
    },
    async check(input: Buffer): Promise<void> {
      const clogged = isClogged(input);
      const limits = limitsOf(input);
      const whole = new Player(limits, clogged);
      await playWhole(whole, input);
      const sent = sentBy(whole);
      const pieces = new Player(limits, clogged);
      await playCut(pieces, input);
      sentBy(pieces);

      for (const call of whole.calls) {
        counts.calls++;
        if (call.includes('half')) counts.ended++;
      }
      counts.goAways += whole.goAways;
      counts.limits += whole.limits.length;
      if (clogged) counts.clogged++;
      if (halfOf(input, 0) >= 0) counts.drained++;
      if (clogged || sent.length > MOST_SENT) return;
      alike('the same calls, however the bytes are cut', pieces.calls, whole.calls);
      // A connection that is drained ends with the turn of its last stream: what comes in that turn may still be read.
      if (halfOf(input, 0) >= 0 && ((input[0] ?? 0) & WITH_TURNS) !== 0) return;
      alike('the same limits', pieces.limits, whole.limits);
      alike('the same answer', Buffer.concat(pieces.socket.written), sent);
    },
  };
}

function isClogged(input: Buffer): boolean {
  return ((input[0] ?? 0) & CLOGGED) !== 0;
}

/** Where the server begins to drain; -1: it does not. */
function halfOf(input: Buffer, length: number): number {
  return ((input[0] ?? 0) & DRAINS) !== 0 ? length >> 1 : -1;
}

async function playWhole(player: Player, input: Buffer): Promise<void> {
  const bytes = bytesOf(input);
  const half = halfOf(input, bytes.length);
  player.connection.read(half < 0 ? bytes : bytes.subarray(0, half), NOW);
  if (half >= 0) {
    await player.drain();
    player.connection.read(bytes.subarray(half), NOW);
  }
  await player.finish(((input[0] ?? 0) & WAITS) !== 0);
}

async function playCut(player: Player, input: Buffer): Promise<void> {
  const options = input[0] ?? 0;
  const bytes = bytesOf(input);
  const half = halfOf(input, bytes.length);
  const seed = input.length < HEAD_BYTES ? 0 : input.readUIntBE(1, 3);
  const turns = (options & WITH_TURNS) !== 0;
  if (half < 0) await playPieces(player, bytes, seed, turns);
  else {
    await playPieces(player, bytes.subarray(0, half), seed | 1, turns);
    await player.drain();
    await playPieces(player, bytes.subarray(half), seed | 1, turns);
  }
  await player.finish((options & WAITS) !== 0);
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
