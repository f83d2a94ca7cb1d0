import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HpackDecoder } from './decoder.ts';
import { type LiteralForm, PlannedEncoder, type PlannedField } from './encoder.suite.ts';
import { STATIC_TABLE } from './static-table.ts';

type Field = readonly [name: string, value: string];

/** Few of them, so that the tables are of use, and any. */
const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('', 'te', 'trailers', 'x-request-id', 'application/grpc', '5000m', 'v'.repeat(200)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((units) => Buffer.from(units).toString('latin1')) },
);
const field: fc.Arbitrary<Field> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(text, text) },
  { weight: 1, arbitrary: fc.constantFrom(...STATIC_TABLE) },
);
const planned: fc.Arbitrary<PlannedField> = fc
  .record({
    field,
    byIndex: fc.oneof(fc.constant(true), fc.boolean()),
    form: fc.constantFrom<LiteralForm>('indexed', 'indexed', 'not-indexed', 'never-indexed'),
    huffmanName: fc.boolean(),
    huffmanValue: fc.boolean(),
  })
  .map(({ field: [name, value], ...how }) => ({ name, value, ...how }));

/** Blocks of one connection, with the table sizes that stand before their fields. */
const connection = fc.constantFrom(0, 40, 100, 300, 4096).chain((maxTableBytes) =>
  fc.record({
    maxTableBytes: fc.constant(maxTableBytes),
    blocks: fc.array(
      fc.record({
        sizes: fc.oneof(
          { weight: 4, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(fc.nat(maxTableBytes), { maxLength: 3 }) },
        ),
        fields: fc.array(planned, { maxLength: 15 }),
      }),
      { maxLength: 12 },
    ),
  }),
);

class Heard {
  readonly fields: Field[] = [];

  field(name: string, value: string): void {
    this.fields.push([name, value]);
  }
}

it('reads whatever an encoder may write, over all blocks of a connection', () => {
  fc.assert(
    fc.property(connection, fc.nat(5), ({ maxTableBytes, blocks }, before) => {
      const encoder = new PlannedEncoder(maxTableBytes);
      const decoder = new HpackDecoder(maxTableBytes);
      for (const { fields, sizes } of blocks) {
        const block = encoder.block(fields, sizes);
        const heard = new Heard();

        const around = Buffer.concat([Buffer.alloc(before, 0x80), block, Buffer.alloc(3, 0x80)]);
        expect(decoder.decode(around, before, before + block.length, heard)).toBe(true);
        expect(heard.fields).toEqual(fields.map(({ name, value }) => [name, value]));
      }
    }),
    { numRuns: 300 },
  );
});

it('takes a field that is cut anywhere for an error, and tells nothing of it', () => {
  fc.assert(
    fc.property(planned, (plan) => {
      const block = new PlannedEncoder(4096).block([plan]);
      for (let to = 1; to < block.length; to++) {
        const heard = new Heard();
        expect(new HpackDecoder().decode(block, 0, to, heard)).toBe(false);
        expect(heard.fields).toEqual([]);
      }
    }),
  );
});

it('comes to an end with any bytes, with at most a field for each, and begins anew with the next block', () => {
  const anyBytes = fc.uint8Array({ maxLength: 200 }).map((units) => Buffer.from(units));
  const changed = fc
    .tuple(fc.array(planned, { maxLength: 8 }), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }))
    .map(([fields, changes]) => {
      const block = new PlannedEncoder(4096).block(fields);
      for (const [at, byte] of changes) if (block.length > 0) block[at % block.length] = byte;
      return block;
    });
  fc.assert(
    fc.property(fc.array(fc.oneof(anyBytes, changed), { maxLength: 5 }), (blocks) => {
      const decoder = new HpackDecoder();
      for (const block of blocks) {
        const heard = new Heard();
        expect(decoder.decode(block, 0, block.length, heard)).toBeTypeOf('boolean');
        expect(heard.fields.length).toBeLessThanOrEqual(block.length);
        expect(decoder.decode(Buffer.from([0x83]), 0, 1, heard)).toBe(true);
        expect(heard.fields.at(-1)).toEqual([':method', 'POST']);
      }
    }),
    { numRuns: 1000 },
  );
});
