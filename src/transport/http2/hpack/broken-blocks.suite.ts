import { bytesOfBits, EOS, HUFFMAN_CODE } from './huffman-code.suite.ts';

/** A header block to a decoder with an empty dynamic table of 4,096 bytes. */
export interface BlockCase {
  readonly section: string;
  readonly what: string;
  readonly block: Buffer;
}

const POST = '83';
const hex = (section: string, what: string, block: string): BlockCase => ({
  section,
  what,
  block: Buffer.from(block.replaceAll(' ', ''), 'hex'),
});

/** `:path` as a literal with a Huffman code of these bits, filled up with ones. */
function huffmanPath(section: string, what: string, bits: string): BlockCase {
  const bytes = bytesOfBits(bits);
  return { section, what, block: Buffer.concat([Buffer.from([0x04, 0x80 + bytes.length]), bytes]) };
}

const SLASH = HUFFMAN_CODE[0x2f] ?? '';
const A = HUFFMAN_CODE[0x61] ?? '';

/** No header blocks (RFC 7541). */
export const BROKEN_BLOCKS: readonly BlockCase[] = [
  hex('2.3.3', 'an index beyond both tables', 'be'),
  hex('2.3.3', 'an index far beyond both tables', 'ff ff 7f'),
  hex('2.3.3', 'a name of an index beyond both tables, literal with indexing', '7e 01 61'),
  hex('2.3.3', 'a name of an index beyond both tables, literal without indexing', '0f 2f 01 61'),
  hex('2.3.3', 'a name of an index beyond both tables, literal never indexed', '1f 2f 01 61'),
  hex('2.3.3', 'an entry that was not kept', '04 01 2f be'),
  hex('2.3.3', 'an entry that was never to be kept', '14 01 2f be'),
  hex('4.2', 'a size behind a field', `${POST} 20`),
  hex('4.2', 'a size between fields', `${POST} 3f e1 1f ${POST}`),
  hex('5.1', 'an integer without its end', 'ff 80'),
  hex('5.1', 'an integer with nothing behind its prefix', 'ff'),
  hex('5.1', 'an index of more than 2^31-1', 'ff 81 ff ff ff 07'),
  hex('5.1', 'an index of more than 2^32', 'ff ff ff ff ff 7f'),
  hex('5.1', 'an index that is 1 modulo 2^32', 'ff 82 ff ff ff 0f'),
  hex('5.1', 'an integer that goes on and on', `ff ${'80 '.repeat(64)} 00`),
  hex('5.2', 'a literal without a value', '04'),
  hex('5.2', 'a literal without a name', '00'),
  hex('5.2', 'a literal with a name and no value', '00 01 61'),
  hex('5.2', 'a name that runs past the end', '00 02 61'),
  hex('5.2', 'a value that runs past the end', '04 02 2f'),
  hex('5.2', 'a Huffman value that runs past the end', '04 82 63'),
  hex('5.2', 'a length without its end', '04 7f'),
  hex('5.2', 'a length of more than 2^31-1', '04 7f 81 ff ff ff 07 2f'),
  huffmanPath('5.2', 'padding of eight bits', `${HUFFMAN_CODE[0x26]}11111111`),
  huffmanPath('5.2', 'padding of eleven bits', `${A}${'1'.repeat(11)}`),
  hex('5.2', 'nothing but padding', '04 81 ff'),
  huffmanPath('5.2', 'padding with a zero at its end', `${SLASH}10`),
  huffmanPath('5.2', 'padding of zeros', `${SLASH}00`),
  huffmanPath('5.2', 'EOS alone', `${HUFFMAN_CODE[EOS]}`),
  huffmanPath('5.2', 'EOS between bytes', `${SLASH}${HUFFMAN_CODE[EOS]}${A}`),
  hex('5.2', 'a Huffman name with EOS', '00 84 ff ff ff ff 01 61'),
  hex('6.1', 'index 0', '80'),
  hex('6.3', 'a size above the one announced', '3f e2 1f'),
  hex('6.3', 'a size of more than 2^31-1', '3f ff ff ff ff 7f'),
  hex('6.3', 'a size without its end', '3f e1'),
];

/** Blocks that look odd and are none the less. */
export const ODD_BLOCKS: readonly BlockCase[] = [
  hex('4.2', 'one size', `20 ${POST}`),
  hex('4.2', 'two sizes, the second the one announced', `20 3f e1 1f ${POST}`),
  hex('4.2', 'three sizes', `20 3f e1 1f 20 ${POST}`),
  hex('4.2', 'a size and no field', '20'),
  hex('4.4', 'an entry that is larger than the table', '20 44 01 2f'),
  hex('5.1', 'an integer with a byte of nothing', '0f 80 00 01 2f'),
  hex('5.2', 'an empty value', '04 00'),
  hex('5.2', 'an empty Huffman value', '04 80'),
  huffmanPath('5.2', 'padding of seven bits', A.repeat(5)),
];
