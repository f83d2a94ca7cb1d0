import { HpackDecoder } from '../../../src/transport/http2/hpack/decoder.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, fail, same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { PlainHpack } from '../oracles/hpack.ts';
import { writeBlock } from './hpack-writer.ts';

const TABLE_BYTES = [4096, 4096, 4096, 0, 64, 256];

/**
 * A sequence of header blocks on one connection, as `length, bytes` each, against a plain reader of RFC 7541 with its own tables,
 * and against a second decoder that gets every block in other memory.
 */
export function hpackTarget(): Target {
  const sink = new ByteSink();
  const block = new ByteSink();
  const counts = { blocks: 0, refused: 0, fields: 0 };
  return {
    name: 'hpack',
    sources: ['/src/transport/http2/hpack/'],
    tokens: TOKENS,
    slowMs: 30,
    counts: () => counts,
    generate(random: Random): Buffer {
      sink.clear().byte(random.below(TABLE_BYTES.length));
      for (let blocks = 1 + random.size(5); blocks > 0; blocks--) {
        block.clear();
        writeBlock(block, random);
        sink.uint(block.length, 2).bytes(block.done());
      }
      return sink.done();
    },
    check(input: Buffer): void {
      const maxTable = TABLE_BYTES[(input[0] ?? 0) % TABLE_BYTES.length]!;
      const decoder = new HpackDecoder(maxTable);
      const again = new HpackDecoder(maxTable);
      const oracle = new PlainHpack(maxTable);
      for (let at = 1; at + 2 <= input.length; ) {
        const from = at + 2;
        const to = Math.min(input.length, from + input.readUInt16BE(at));
        at = to;
        counts.blocks++;
        const fields = new Fields();
        const accepted = decoder.decode(input, from, to, fields);
        counts.fields += fields.list.length;

        const copy = Buffer.from(input.subarray(from, to));
        const others = new Fields();
        same('the same block, the same verdict', again.decode(copy, 0, copy.length, others), accepted);
        alike('the same block, the same fields', others.list, fields.list);
        copy.fill(0);

        const expected = oracle.read(input, from, to);
        same('accepted', accepted, expected !== null);
        if (expected === null) {
          counts.refused++;
          return;
        }
        alike('fields', fields.list, expected);
        if (oracle.tableBytes > maxTable) fail('a table within its bounds', oracle.tableBytes);
      }
    },
  };
}

class Fields {
  readonly list: string[] = [];

  field(name: string, value: string): void {
    this.list.push(name, value);
  }
}

const TOKENS = [
  [0x20],
  [0x3f, 0xe1, 0x1f],
  [0x82],
  [0xbe],
  [0x40],
  [0x00],
  [0x10],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
  [0x7f, 0x00],
  [0xff, 0x00],
  [0x81, 0xff],
  [0x82, 0x1f, 0xff],
  [0x84, 0xff, 0xff, 0xff, 0xfc],
  [0x01, 0x61],
].map((bytes) => Uint8Array.from(bytes));
