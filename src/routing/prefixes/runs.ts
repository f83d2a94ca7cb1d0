/** Pieces of text, compared and copied in large steps. Hot path. */

/** Below this many code units a loop is as fast as a comparison of whole strings. */
const SHORT = 32;
/** The engine copies substrings shorter than this; longer ones keep the text that they are cut from alive. */
const SHARED_FROM = 13;
/** Copies up to this many bytes go through one buffer that is kept. */
const KEPT_BYTES = 4 << 20;

let buffer = Buffer.allocUnsafeSlow(1 << 16);

/** Room for a text as UTF-16. */
function room(text: string): Buffer {
  const bytes = text.length * 2;
  if (bytes <= buffer.length) return buffer;
  if (bytes > KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
  buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
  return buffer;
}

/** A part of a text as a string of its own, which keeps nothing else alive. */
export function ownPart(text: string, from: number, to: number): string {
  const part = text.substring(from, to);
  if (part.length < SHARED_FROM) return part;
  const bytes = room(part);
  return bytes.toString('utf16le', 0, bytes.write(part, 0, 'utf16le'));
}

/** How many code units a run and the text from `at` on have in common. */
export function commonLength(text: string, at: number, run: string): number {
  const most = Math.min(run.length, text.length - at);
  if (most === run.length && most > SHORT && text.substring(at, at + most) === run) return most;
  let low = 0;
  let high = most;
  // In growing steps to where they differ, then by halves into that step.
  for (let step = SHORT; high - low > SHORT; ) {
    const length = Math.min(step, (high - low) >> 1);
    if (text.substring(at + low, at + low + length) === run.substring(low, low + length)) {
      low += length;
      if (high === most) step *= 2;
    } else {
      high = low + length;
    }
  }
  while (low < high && text.charCodeAt(at + low) === run.charCodeAt(low)) low += 1;
  return low;
}

/** Surrogate pairs in well-formed text. */
export function countPairs(text: string): number {
  const { length } = text;
  let pairs = 0;
  if (length <= SHORT) {
    for (let i = 0; i < length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) pairs += 1;
    return pairs;
  }
  // Pure ASCII is told natively.
  if (Buffer.byteLength(text) === length) return 0;
  const bytes = room(text);
  bytes.write(text, 0, 'utf16le');
  const twos = new Uint32Array(bytes.buffer, bytes.byteOffset, length >> 1);
  for (let i = 0; i < twos.length; i++) {
    const two = twos[i] as number;
    if ((two & 0xfc00) === 0xd800) pairs += 1;
    if (two >>> 26 === 0x36) pairs += 1;
  }
  return pairs + (length % 2 === 1 && (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? 1 : 0);
}
