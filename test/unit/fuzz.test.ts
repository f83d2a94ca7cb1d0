import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCorpus } from '../fuzz/lib/corpus.ts';
import { fuzz } from '../fuzz/lib/fuzz.ts';
import type { Target } from '../fuzz/lib/target.ts';
import { TARGETS } from '../fuzz/targets/index.ts';

const INPUTS = 1500;
const MOST_SECONDS = 2;

/** A finding is a message with its input. @param seed the same every time: other seeds are what `npm run fuzz` is for */
async function findingOf(target: Target, corpus: readonly Buffer[], inputs: number, seed: number) {
  const options = { inputs: corpus.length + inputs, seconds: MOST_SECONDS, seed, corpus, coverage: null };
  const result = await fuzz(target, { ...options, onInput: () => undefined });
  await target.close?.();
  return result;
}

describe.each(Object.entries(TARGETS))('fuzzing %s', (name, make) => {
  it('holds for all kept inputs, and for some new ones', async () => {
    const corpus = readCorpus(join(import.meta.dirname, '../fuzz/corpus', name)).map(({ input }) => input);
    const { finding, inputs } = await findingOf({ ...make(), slowMs: 2000 }, corpus, INPUTS, 1);

    expect(finding?.message, finding?.input.toString('hex')).toBeUndefined();
    expect(inputs).toBeGreaterThan(corpus.length);
  });
});

describe('the fuzzer itself', () => {
  const target = (check: (input: Buffer) => void | Promise<void>): Target => ({
    name: 'x',
    sources: [],
    tokens: [Buffer.from('bug')],
    slowMs: 5,
    generate: (random) => Buffer.from([random.below(256)]),
    check,
  });

  it('finds what throws, and tells the input', async () => {
    const fails = (input: Buffer): void => {
      if (input.includes('bug')) throw new Error('a bug');
    };
    const { finding } = await findingOf(target(fails), [], 100_000, 1);
    expect(finding?.message).toContain('a bug');
    expect(finding?.input.includes('bug')).toBe(true);
  });

  it('finds what rejects', async () => {
    const { finding } = await findingOf(
      target(() => Promise.reject(new Error('later'))),
      [],
      10,
      1,
    );
    expect(finding?.message).toContain('later');
  });

  it('finds what is slow every time', async () => {
    const busy = (): void => {
      for (const end = performance.now() + 8; performance.now() < end; );
    };
    const { finding } = await findingOf(target(busy), [], 10, 1);
    expect(finding?.message).toContain('slow');
  });

  it('draws the same inputs from the same seed', async () => {
    const drawn = async (seed: number): Promise<string> => {
      const seen: Buffer[] = [];
      await findingOf(
        target((input) => void seen.push(input)),
        [Buffer.from('abc')],
        500,
        seed,
      );
      return Buffer.concat(seen).toString('hex');
    };
    expect(await drawn(1)).toBe(await drawn(1));
    expect(await drawn(1)).not.toBe(await drawn(2));
  });
});
