/**
 * The Huffman code of HPACK (RFC 7541 5.2, Appendix B), read four bits at a time. The code is canonical: shorter codes come first,
 * and among equally long ones the lower symbol, so that the lengths say it all.
 */

/** Bits of the code of each byte. */
// biome-ignore format: a table
const CODE_LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
/** EOS is thirty ones, and an error where it stands in a string. */
const EOS = 256;
const EOS_LENGTH = 30;
const NO_SYMBOL = 0x1ff;
/** A step that leads out of the code. */
const BROKEN = -1;

/**
 * Steps by state and the next four bits: the next state, and the symbol that ends within these bits; the shortest code has five,
 * so that there is at most one.
 */
const STEPS = new Int32Array(256 * 16);
/** States in which a string may end: fewer than eight bits, all of them ones (RFC 7541 5.2). */
const MAY_END = new Uint8Array(256);
build();

let scratch = Buffer.allocUnsafeSlow(1024);

/** A string of `bytes[from, to)`, one character a byte; null when it is no Huffman code. */
export function huffmanText(bytes: Uint8Array, from: number, to: number): string | null {
  // Each symbol takes five bits at least.
  const most = Math.ceil(((to - from) * 8) / 5);
  if (most > scratch.length) scratch = Buffer.allocUnsafeSlow(most);
  let state = 0;
  let length = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = STEPS[state * 16 + ((byte >> shift) & 15)] ?? BROKEN;
      if (step === BROKEN) return null;
      const symbol = step & NO_SYMBOL;
      if (symbol !== NO_SYMBOL) scratch[length++] = symbol;
      state = step >> 9;
    }
  }
  return MAY_END[state] === 1 ? scratch.toString('latin1', 0, length) : null;
}

/** Makes the steps out of the tree of the code; its inner nodes are the states. */
function build(): void {
  /** Children of each inner node: another node, `-2 - symbol` for a leaf, 0 for none yet. */
  const children: [number, number][] = [[0, 0]];
  let code = 0;
  let length = 0;
  const lengths = [...CODE_LENGTHS, EOS_LENGTH];
  const symbols = lengths.map((_, symbol) => symbol);
  symbols.sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b);
  for (const symbol of symbols) {
    const own = lengths[symbol] ?? 0;
    code *= 2 ** (own - length);
    length = own;
    let node = 0;
    for (let bit = own - 1; bit >= 0; bit--) {
      const pair = children[node];
      if (pair === undefined) return;
      const side = ((code >>> bit) & 1) === 1 ? 1 : 0;
      if (bit === 0) pair[side] = -2 - symbol;
      else if (pair[side] === 0) pair[side] = children.push([0, 0]) - 1;
      node = pair[side];
    }
    code += 1;
  }

  for (let state = 0; state < children.length; state++) {
    for (let bits = 0; bits < 16; bits++) STEPS[state * 16 + bits] = stepOf(children, state, bits);
  }
  for (let ones = 0, state = 0; ones < 8; ones++) {
    MAY_END[state] = 1;
    state = children[state]?.[1] ?? 0;
  }
}

function stepOf(children: readonly (readonly [number, number])[], from: number, bits: number): number {
  let node = from;
  let symbol = NO_SYMBOL;
  for (let shift = 3; shift >= 0; shift--) {
    const next = children[node]?.[(bits >> shift) & 1] ?? 0;
    if (next === -2 - EOS) return BROKEN;
    if (next < 0) symbol = -2 - next;
    node = Math.max(0, next);
  }
  return (node << 9) | symbol;
}
