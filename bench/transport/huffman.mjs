/**
 * The Huffman code of HPACK, for writing. It is canonical: codes of one length count upwards in the order of their symbols, and
 * a longer length goes on from there, so that the lengths of RFC 7541 Appendix B say all.
 */

/** Bits of each byte and of EOS, one digit of base 36 each. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f565' +
  '65666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmp' +
  'qqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu';

const codes = new Uint32Array(257);
const lengths = Uint8Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36));

let next = 0;
for (let length = 5; length <= 30; length++) {
  for (let symbol = 0; symbol < lengths.length; symbol++) if (lengths[symbol] === length) codes[symbol] = next++;
  next *= 2;
}

/** A latin1 text in this code, filled up with ones. */
export function huffman(text) {
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += lengths[text.charCodeAt(i)];
  const bytes = Buffer.allocUnsafe((bits + 7) >> 3);
  let at = 0;
  let held = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i);
    // At most 7 bits are held before a code of at most 30, which is more than the operators take.
    held = held * 2 ** lengths[symbol] + codes[symbol];
    count += lengths[symbol];
    while (count >= 8) {
      count -= 8;
      const byte = Math.floor(held / 2 ** count);
      bytes[at++] = byte;
      held -= byte * 2 ** count;
    }
  }
  if (count > 0) bytes[at] = (held << (8 - count)) | (0xff >> count);
  return bytes;
}
