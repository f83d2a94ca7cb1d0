import type { Random } from './random.ts';

const INTERESTING = [0, 1, 0x0f, 0x1f, 0x20, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xfe, 0xff];
const LONGEST = 64 * 1024;

/** A changed copy of `input`. */
export function mutate(random: Random, input: Buffer, other: Buffer, tokens: readonly Uint8Array[]): Buffer {
  let bytes = input;
  for (let rounds = 1 + random.size(4); rounds > 0; rounds--) bytes = mutateOnce(random, bytes, other, tokens);
  return bytes.length > LONGEST ? bytes.subarray(0, LONGEST) : bytes;
}

function mutateOnce(random: Random, bytes: Buffer, other: Buffer, tokens: readonly Uint8Array[]): Buffer {
  const at = random.below(bytes.length + 1);
  const length = Math.min(random.size(64), bytes.length - at);
  switch (random.below(10)) {
    case 0:
      return changed(bytes, at, (byte) => byte ^ (1 << random.below(8)));
    case 1:
      return changed(bytes, at, () => random.below(256));
    case 2:
      return changed(bytes, at, () => random.pick(INTERESTING));
    case 3:
      return changed(bytes, at, (byte) => byte + random.pick([-1, 1]));
    case 4:
      return spliced(bytes, at, length, NOTHING);
    case 5:
      return spliced(bytes, at, 0, bytes.subarray(at, at + length));
    case 6: {
      const from = random.below(other.length + 1);
      return spliced(bytes, at, length, other.subarray(from, from + random.size(64)));
    }
    case 7:
      return bytes.subarray(0, at);
    case 8: {
      const to = random.below(bytes.length + 1);
      return spliced(bytes, Math.min(at, to), 0, bytes.subarray(to, to + length));
    }
    default:
      return tokens.length === 0 ? bytes : spliced(bytes, at, random.once(2) ? 0 : length, random.pick(tokens));
  }
}

const NOTHING = new Uint8Array(0);

function changed(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  if (at >= bytes.length) return bytes;
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at] ?? 0);
  return copy;
}

function spliced(bytes: Buffer, at: number, removed: number, added: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
}
