import { describe, expect, it } from 'vitest';
import { BROKEN_BLOCKS, ODD_BLOCKS } from './broken-blocks.suite.ts';
import { HpackDecoder } from './decoder.ts';
import { integerBytes, stringBytes } from './encoder.suite.ts';

type Field = readonly [name: string, value: string];

const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const FIRST_DYNAMIC = 62;

/** The fields of a block, null when it is none. */
function read(decoder: HpackDecoder, block: Buffer): Field[] | null {
  const fields: Field[] = [];
  const whole = decoder.decode(block, 0, block.length, { field: (name, value) => fields.push([name, value]) });
  return whole ? fields : null;
}

/** The dynamic table, the newest entry first: what its indexes stand for until one stands for nothing. */
function tableOf(decoder: HpackDecoder): Field[] {
  const entries: Field[] = [];
  for (;;) {
    const [entry] = read(decoder, integerBytes(FIRST_DYNAMIC + entries.length, 7, 0x80)) ?? [];
    if (entry === undefined) return entries;
    entries.push(entry);
  }
}

const bytesIn = (entries: readonly Field[]): number =>
  entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);

interface Example {
  readonly block: string;
  readonly fields: readonly Field[];
  readonly table: readonly Field[];
  readonly tableBytes: number;
}

const AUTHORITY: Field = [':authority', 'www.example.com'];
const NO_CACHE: Field = ['cache-control', 'no-cache'];
const CUSTOM: Field = ['custom-key', 'custom-value'];
const GET: Field = [':method', 'GET'];
const HTTP: Field = [':scheme', 'http'];
const ROOT: Field = [':path', '/'];

const requests = (blocks: readonly [string, string, string]): Example[] => [
  { block: blocks[0], fields: [GET, HTTP, ROOT, AUTHORITY], table: [AUTHORITY], tableBytes: 57 },
  {
    block: blocks[1],
    fields: [GET, HTTP, ROOT, AUTHORITY, NO_CACHE],
    table: [NO_CACHE, AUTHORITY],
    tableBytes: 110,
  },
  {
    block: blocks[2],
    fields: [GET, [':scheme', 'https'], [':path', '/index.html'], AUTHORITY, CUSTOM],
    table: [CUSTOM, NO_CACHE, AUTHORITY],
    tableBytes: 164,
  },
];

const FOUND: Field = [':status', '302'];
const MOVED: Field = [':status', '307'];
const PRIVATE: Field = ['cache-control', 'private'];
const DATE: Field = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'];
const LATER: Field = ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'];
const LOCATION: Field = ['location', 'https://www.example.com'];
const GZIP: Field = ['content-encoding', 'gzip'];
const COOKIE: Field = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'];

const answers = (blocks: readonly [string, string, string]): Example[] => [
  {
    block: blocks[0],
    fields: [FOUND, PRIVATE, DATE, LOCATION],
    table: [LOCATION, DATE, PRIVATE, FOUND],
    tableBytes: 222,
  },
  {
    block: blocks[1],
    fields: [MOVED, PRIVATE, DATE, LOCATION],
    table: [MOVED, LOCATION, DATE, PRIVATE],
    tableBytes: 222,
  },
  {
    block: blocks[2],
    fields: [[':status', '200'], PRIVATE, LATER, LOCATION, GZIP, COOKIE],
    table: [COOKIE, GZIP, LATER],
    tableBytes: 215,
  },
];

describe('RFC 7541 Appendix C', () => {
  it.each<{ what: string; maxTableBytes: number; examples: Example[] }>([
    {
      what: 'C.2.1 a literal with indexing',
      maxTableBytes: 4096,
      examples: [
        {
          block: '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
          fields: [['custom-key', 'custom-header']],
          table: [['custom-key', 'custom-header']],
          tableBytes: 55,
        },
      ],
    },
    {
      what: 'C.2.2 a literal without indexing',
      maxTableBytes: 4096,
      examples: [
        {
          block: '040c 2f73 616d 706c 652f 7061 7468',
          fields: [[':path', '/sample/path']],
          table: [],
          tableBytes: 0,
        },
      ],
    },
    {
      what: 'C.2.3 a literal never indexed',
      maxTableBytes: 4096,
      examples: [
        {
          block: '1008 7061 7373 776f 7264 0673 6563 7265 74',
          fields: [['password', 'secret']],
          table: [],
          tableBytes: 0,
        },
      ],
    },
    {
      what: 'C.2.4 an indexed field',
      maxTableBytes: 4096,
      examples: [{ block: '82', fields: [GET], table: [], tableBytes: 0 }],
    },
    {
      what: 'C.3 requests without Huffman codes',
      maxTableBytes: 4096,
      examples: requests([
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ]),
    },
    {
      what: 'C.4 requests with Huffman codes',
      maxTableBytes: 4096,
      examples: requests([
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ]),
    },
    {
      what: 'C.5 answers without Huffman codes, with a table of 256 bytes',
      maxTableBytes: 256,
      examples: answers([
        `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
         546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`.replaceAll(/\s/g, ''),
        '4803 3330 37c1 c0bf',
        `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
         6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
         2076 6572 7369 6f6e 3d31`.replaceAll(/\s/g, ''),
      ]),
    },
    {
      what: 'C.6 answers with Huffman codes, with a table of 256 bytes',
      maxTableBytes: 256,
      examples: answers([
        `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
         8f0b 97c8 e9ae 82ae 43d3`.replaceAll(/\s/g, ''),
        '4883 640e ffc1 c0bf',
        `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
         dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`.replaceAll(/\s/g, ''),
      ]),
    },
  ])('$what', ({ maxTableBytes, examples }) => {
    const decoder = new HpackDecoder(maxTableBytes);

    for (const { block, fields, table, tableBytes } of examples) {
      expect(read(decoder, bytesOf(block))).toEqual(fields);
      expect(tableOf(decoder)).toEqual(table);
      expect(bytesIn(tableOf(decoder))).toBe(tableBytes);
    }
  });
});

describe('blocks', () => {
  it.each(BROKEN_BLOCKS)('RFC 7541 $section refuses $what', ({ block }) => {
    expect(read(new HpackDecoder(), block)).toBeNull();
  });

  it.each(ODD_BLOCKS)('RFC 7541 $section takes $what', ({ block }) => {
    expect(read(new HpackDecoder(), block)).not.toBeNull();
  });

  it('may be empty', () => {
    expect(read(new HpackDecoder(), Buffer.alloc(0))).toEqual([]);
  });

  it('tell what stands before an error', () => {
    const fields: Field[] = [];
    const block = bytesOf('83 86 80');

    new HpackDecoder().decode(block, 0, block.length, { field: (name, value) => fields.push([name, value]) });

    expect(fields).toEqual([[':method', 'POST'], HTTP]);
  });

  it('tell names without a character, which others judge', () => {
    expect(read(new HpackDecoder(), bytesOf('00 00 01 61'))).toEqual([['', 'a']]);
  });

  it('are read between their ends only', () => {
    const fields: Field[] = [];
    const bytes = bytesOf('80 83 86 80');

    expect(new HpackDecoder().decode(bytes, 1, 3, { field: (name, value) => fields.push([name, value]) })).toBe(true);
    expect(fields).toEqual([[':method', 'POST'], HTTP]);
  });

  it('leave strings that outlive their bytes', () => {
    const decoder = new HpackDecoder();
    const block = bytesOf('40 01 61 03 62 63 64');
    const fields = read(decoder, block);
    block.fill(0);

    expect(fields).toEqual([['a', 'bcd']]);
    expect(tableOf(decoder)).toEqual([['a', 'bcd']]);
  });

  it('may name an entry that its own literal drives out (RFC 7541 4.4)', () => {
    const decoder = new HpackDecoder(64);
    read(decoder, bytesOf('40 04 6e 61 6d 65 03 6f 6c 64'));

    expect(read(decoder, Buffer.concat([bytesOf('7e'), stringBytes('v'.repeat(28), false)]))).toEqual([
      ['name', 'v'.repeat(28)],
    ]);
    expect(tableOf(decoder)).toEqual([['name', 'v'.repeat(28)]]);
  });
});

describe('RFC 7541 4.2 the size of the dynamic table', () => {
  const entry = Buffer.concat([bytesOf('40'), stringBytes('n'.repeat(8), false), stringBytes('v'.repeat(60), false)]);
  const ENTRY_BYTES = 100;
  const size = (bytes: number): Buffer => integerBytes(bytes, 5, 0x20);
  const held = (decoder: HpackDecoder): number => {
    for (let i = 0; i < 200; i++) read(decoder, entry);
    return tableOf(decoder).length * ENTRY_BYTES;
  };

  it.each([
    { maxTableBytes: 0, holds: 0 },
    { maxTableBytes: 256, holds: 200 },
    { maxTableBytes: 4096, holds: 4000 },
    // RFC 9113 6.5.2: until the peer takes more, it has what everybody begins with.
    { maxTableBytes: 16_384, holds: 4000 },
  ])('begins with what was announced, at most 4,096: $maxTableBytes', ({ maxTableBytes, holds }) => {
    expect(held(new HpackDecoder(maxTableBytes))).toBe(holds);
  });

  it.each([
    { sizes: [0], holds: 0 },
    { sizes: [250], holds: 200 },
    { sizes: [0, 250], holds: 200 },
    { sizes: [250, 4096], holds: 4000 },
    { sizes: [16_384], holds: 16_300 },
  ])('becomes the last of $sizes', ({ sizes, holds }) => {
    const decoder = new HpackDecoder(16_384);

    expect(read(decoder, Buffer.concat(sizes.map(size)))).toEqual([]);
    expect(held(decoder)).toBe(holds);
  });

  it('drives entries out, also where it grows again at once', () => {
    const decoder = new HpackDecoder();
    held(decoder);

    read(decoder, Buffer.concat([size(150), size(4096)]));

    expect(tableOf(decoder)).toHaveLength(1);
  });

  it.each([0, 256, 4096, 16_384])('is never more than the %i that was announced (6.3)', (maxTableBytes) => {
    const decoder = new HpackDecoder(maxTableBytes);

    expect(read(decoder, size(maxTableBytes))).toEqual([]);
    expect(read(decoder, size(maxTableBytes + 1))).toBeNull();
  });
});
