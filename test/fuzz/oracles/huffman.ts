/** RFC 7541 5.2 by the table of its appendix, bit by bit. */
import type { Random } from '../lib/random.ts';
import { HUFFMAN_CODES } from './huffman-codes.ts';

const CODES = HUFFMAN_CODES.map((entry) => {
  const [code = '', bits = ''] = entry.split('/');
  return { code: Number.parseInt(code, 16), bits: Number(bits) };
});
const EOS = 256;
/** By length times 2^30 and code. */
const SYMBOLS = new Map(CODES.map(({ code, bits }, symbol) => [bits * 2 ** 30 + code, symbol]));

/** One character a byte. Now and then the padding, or the end, is wrong. */
export function huffmanCode(text: string, random: Random): Buffer {
  const bytes: number[] = [];
  let filled = 0;
  let byte = 0;
  const put = (bit: number): void => {
    byte = byte * 2 + bit;
    if (++filled < 8) return;
    bytes.push(byte);
    filled = 0;
    byte = 0;
  };
  const putSymbol = (symbol: number): void => {
    const { code, bits } = CODES[symbol]!;
    for (let bit = bits - 1; bit >= 0; bit--) put(Math.floor(code / 2 ** bit) % 2);
  };
  for (let i = 0; i < text.length; i++) putSymbol(text.charCodeAt(i));
  if (random.once(400)) putSymbol(EOS);
  const isWrong = random.once(300);
  while (filled > 0) put(isWrong ? 0 : 1);
  if (random.once(300)) bytes.push(0xff);
  return Buffer.from(bytes);
}

export function huffmanDecode(bytes: Uint8Array): string | null {
  let text = '';
  let code = 0;
  let bits = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      bits += 1;
      if (bits > 30) return null;
      const symbol = SYMBOLS.get(bits * 2 ** 30 + code);
      if (symbol === undefined) continue;
      if (symbol === EOS) return null;
      text += String.fromCharCode(symbol);
      code = 0;
      bits = 0;
    }
  }
  // What is left is a beginning of EOS, and less than a byte.
  return bits < 8 && code === 2 ** bits - 1 ? text : null;
}
