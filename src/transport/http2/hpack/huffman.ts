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
/** Inner nodes of a tree with a leaf for each byte and EOS. */
const STATES = 256;
/** A step that leads out of the code. */
const BROKEN = -1;

/**
 * Steps by state and the next four bits: the next state, and the symbol that ends within these bits; the shortest code has five,
 * so that there is at most one.
 */
const STEPS = new Int32Array(STATES * 16);
/** States in which a string may end: fewer than eight bits, all of them ones (RFC 7541 5.2). */
const MAY_END = new Uint8Array(STATES);
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
  const children = tree();
  for (let state = 0; state < STATES; state++) {
    for (let bits = 0; bits < 16; bits++) STEPS[state * 16 + bits] = stepOf(children, state, bits);
  }
  for (let ones = 0, state = 0; ones < 8; ones++) {
    MAY_END[state] = 1;
    state = children[state * 2 + 1] ?? 0;
  }
}

/**
 * Both children of each inner node, the root first: another inner node, or `-1 - symbol`. On each level the symbols with codes of
 * that length stand before the nodes that go on.
 */
function tree(): Int16Array {
  const symbols: number[][] = Array.from({ length: EOS_LENGTH + 1 }, () => []);
  for (let byte = 0; byte < CODE_LENGTHS.length; byte++) symbols[CODE_LENGTHS[byte] ?? 0]?.push(byte);
  symbols[EOS_LENGTH]?.push(EOS);

  const children = new Int16Array(STATES * 2);
  let first = 0;
  let nodes = 1;
  for (let length = 1; length <= EOS_LENGTH; length++) {
    const leaves = symbols[length] ?? [];
    const places = nodes * 2;
    let leaf = 0;
    for (let place = first * 2; place < places; place++, leaf++) {
      const symbol = leaves[leaf];
      children[place] = symbol === undefined ? nodes++ : -1 - symbol;
    }
    first = places / 2;
  }
  return children;
}

function stepOf(children: Int16Array, from: number, bits: number): number {
  let node = from;
  let symbol = NO_SYMBOL;
  for (let bit = 8; bit > 0; bit >>= 1) {
    node = children[node * 2 + ((bits & bit) === 0 ? 0 : 1)] ?? 0;
    if (node >= 0) continue;
    symbol = -1 - node;
    if (symbol === EOS) return BROKEN;
    node = 0;
  }
  return (node << 9) | symbol;
}
