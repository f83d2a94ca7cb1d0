import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntries, encodeEntries, type PassedEntry } from './end-messages.ts';

const text = fc.string({ maxLength: 50 });
const common = {
  pickId: text,
  workerId: text,
  servedAddress: text,
  status: fc.nat({ max: 999 }),
};
const duration = fc.double({ min: 0, max: 1e9, noNaN: true }).map((ms) => ms + 0);
const entry: fc.Arbitrary<PassedEntry> = fc.oneof(
  fc.record({ kind: fc.constant('alive' as const), alive: fc.record(common) }),
  fc.record({
    kind: fc.constant('end' as const),
    end: fc.record({
      ...common,
      rank: fc.option(fc.nat({ max: 9999 })),
      codeDetails: text,
      attempts: fc.nat(),
      durationMs: duration,
      firstByteMs: fc.oneof(duration, fc.constant(-1)),
      retriesUsedUp: fc.boolean(),
      clientGone: fc.boolean(),
      attemptsLogged: fc.boolean(),
    }),
  }),
);

describe('access-log entries on their way', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        expect(decodeEntries(encodeEntries('0000000a', entries))).toEqual(entries);
      }),
    );
  });

  it('that are anything else are none, and never throw', () => {
    const rows = fc.array(fc.array(fc.jsonValue()), { minLength: 1 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          rows.map((each) => JSON.stringify(['0000000a', ...each])),
        ),
        (each) => {
          expect(decodeEntries(each)).toBeUndefined();
        },
      ),
    );
  });

  it('with details of any length go', () => {
    const [end] = decodeEntries(
      encodeEntries('0000000a', [{ kind: 'end', end: { ...END, codeDetails: 'x'.repeat(10_000) } }]),
    )!;
    expect(end).toMatchObject({ end: { pickId: 'p', codeDetails: 'x'.repeat(4096) } });
  });
});

const END = {
  ...{ pickId: 'p', workerId: '', servedAddress: '', status: 200, rank: null, attempts: 1, durationMs: 1 },
  ...{ firstByteMs: -1, retriesUsedUp: false, clientGone: false, attemptsLogged: true },
};
