import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PinBackend, PinChange } from './pin-backend.ts';

/** A backend under test, and what it takes to see it work. */
export interface PinBackendBench {
  readonly backend: PinBackend;
  /** Empty names, new ones at each call. */
  newName(): string;
  /** What was published for a name up to now, in order. */
  published(name: string): Promise<readonly PinChange[]>;
  /** Milliseconds until the key ends, as the store has it; infinite without an end, null when it is absent. */
  msLeft(name: string): Promise<number | null>;
  /** The key as it would be when its time is up. */
  expire(name: string): Promise<void>;
  close(): Promise<void>;
}

const TTL = 100_000;
/** Above the clocks of all stores, and not so far that it would be no version. */
const FAR = (Date.now() + 3_600_000) * 1000;

/** What every backend of shared pins must do. One bench serves all cases. */
export function pinBackendSuite(name: string, open: () => Promise<PinBackendBench>): void {
  describe(`${name} is a backend of shared pins`, () => {
    let bench: PinBackendBench;
    let backend: PinBackend;
    beforeAll(async () => {
      bench = await open();
      backend = bench.backend;
    });
    afterAll(() => bench.close());

    describe('put', () => {
      it('claims an absent key and tells nobody', async () => {
        const key = bench.newName();

        const pin = await backend.put(key, ['a', 'b'], 0, TTL);

        expect(pin).toEqual({ candidates: ['a', 'b'], version: expect.any(Number), won: true });
        expect(pin.version).toBeGreaterThan(0);
        expect(Number.isSafeInteger(pin.version)).toBe(true);
        expect(await backend.read(key)).toEqual({ candidates: ['a', 'b'], version: pin.version });
        expect(await bench.published(key)).toEqual([]);
      });

      it('answers the second claim with the winner, and tells nobody', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a'], 0, TTL);

        expect(await backend.put(key, ['b'], 0, TTL)).toEqual({ candidates: ['a'], version, won: false });
        expect(await bench.published(key)).toEqual([]);
      });

      it('lets one of many claims of a key win', async () => {
        const key = bench.newName();
        const claims = Array.from({ length: 40 }, (_, i) => backend.put(key, [`w${i}`], 0, TTL));

        const answers = await Promise.all(claims);

        expect(answers.filter((answer) => answer.won)).toHaveLength(1);
        expect(new Set(answers.map((answer) => `${answer.candidates} ${answer.version}`)).size).toBe(1);
      });

      it('replaces the expected version by a higher one, and tells', async () => {
        const key = bench.newName();
        const first = await backend.put(key, ['a'], 0, TTL);

        const second = await backend.put(key, ['b', 'a'], first.version, TTL);

        expect(second).toEqual({ candidates: ['b', 'a'], version: expect.any(Number), won: true });
        expect(second.version).toBeGreaterThan(first.version);
        expect(await bench.published(key)).toEqual([{ name: key, candidates: ['b', 'a'], version: second.version }]);
      });

      it('lets the second of two writers on one version lose, also when it is the same write once more', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a'], 0, TTL);
        const winner = await backend.put(key, ['b'], version, TTL);

        expect(await backend.put(key, ['c'], version, TTL)).toEqual({ ...winner, won: false });
        expect(await backend.put(key, ['b'], version, TTL)).toEqual({ ...winner, won: false });
        expect(await bench.published(key)).toHaveLength(1);
      });

      it('goes above what was expected, when the store has lost that', async () => {
        const lost = bench.newName();
        const older = bench.newName();
        await backend.offer(older, ['a'], 5, TTL);

        expect(await backend.put(lost, ['b'], FAR, TTL)).toEqual({ candidates: ['b'], version: FAR + 1, won: true });
        expect(await backend.put(older, ['b'], FAR, TTL)).toEqual({ candidates: ['b'], version: FAR + 1, won: true });
        expect(await bench.published(lost)).toEqual([{ name: lost, candidates: ['b'], version: FAR + 1 }]);
      });

      it('goes above what is stored, however late the clock of the store', async () => {
        const key = bench.newName();
        await backend.offer(key, ['a'], FAR, TTL);

        expect((await backend.put(key, ['b'], FAR, TTL)).version).toBe(FAR + 1);
        expect((await backend.put(key, ['c'], FAR + 1, TTL)).version).toBe(FAR + 2);
      });

      it.each([0, 1, FAR - 1])(
        'writes a deleted key anew for an expected version of %i, and tells',
        async (expected) => {
          const key = bench.newName();
          await backend.offer(key, ['a'], FAR, TTL);
          await backend.remove(key);

          expect(await backend.put(key, ['b'], expected, TTL)).toEqual({
            candidates: ['b'],
            version: FAR + 2,
            won: true,
          });
          expect((await bench.published(key)).at(-1)).toEqual({ name: key, candidates: ['b'], version: FAR + 2 });
        },
      );
    });

    describe('offer', () => {
      it('gives back a lost pin with its version, and tells', async () => {
        const key = bench.newName();

        expect(await backend.offer(key, ['a', 'b'], 7, TTL)).toEqual({ candidates: ['a', 'b'], version: 7, won: true });
        expect(await backend.read(key)).toEqual({ candidates: ['a', 'b'], version: 7 });
        expect(await bench.published(key)).toEqual([{ name: key, candidates: ['a', 'b'], version: 7 }]);
      });

      it.each([
        { offered: 6, won: false },
        { offered: 7, won: false },
        { offered: 8, won: true },
      ])('of version $offered on a stored 7 is written: $won', async ({ offered, won }) => {
        const key = bench.newName();
        await backend.offer(key, ['a'], 7, TTL);

        const answer = await backend.offer(key, ['b'], offered, TTL);

        expect(answer).toEqual(
          won ? { candidates: ['b'], version: offered, won } : { candidates: ['a'], version: 7, won },
        );
        expect(await bench.published(key)).toHaveLength(won ? 2 : 1);
      });

      it('loses to a later delete, and wins over an earlier one', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a'], 0, TTL);
        await backend.remove(key);

        const late = await backend.offer(key, ['a'], version, TTL);

        expect(late).toEqual({ candidates: [], version: expect.any(Number), won: false });
        expect(late.version).toBeGreaterThan(version);
        expect((await backend.offer(key, ['b'], FAR, TTL)).won).toBe(true);
      });
    });

    describe('touch', () => {
      it('answers with the pin and changes nothing but its end', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a', 'b'], 0, TTL);

        expect(await backend.touch(key, 2 * TTL)).toEqual({ candidates: ['a', 'b'], version });
        expect(await backend.read(key)).toEqual({ candidates: ['a', 'b'], version });
        expect(await bench.published(key)).toEqual([]);
      });

      it('is null for an absent key, which stays absent', async () => {
        const key = bench.newName();

        expect(await backend.touch(key, TTL)).toBeNull();
        expect(await backend.read(key)).toBeNull();
      });

      it('sees a deleted key and does not keep its trace for longer', async () => {
        const key = bench.newName();
        await backend.put(key, ['a'], 0, TTL);
        await backend.remove(key);

        expect(await backend.touch(key, 7_200_000)).toEqual({ candidates: [], version: expect.any(Number) });
        expect(await bench.msLeft(key)).toBeLessThanOrEqual(3_600_000);
      });
    });

    describe('end of a key', () => {
      it.each([
        { what: 'put', write: (key: string) => backend.put(key, ['a'], 0, TTL) },
        { what: 'offer', write: (key: string) => backend.offer(key, ['a'], 7, TTL) },
        { what: 'a longer touch', write: (key: string) => putAndTouch(key, 1000, TTL) },
        { what: 'a shorter touch', write: (key: string) => putAndTouch(key, TTL, 1000) },
        { what: 'a touch of one that had no end', write: (key: string) => putAndTouch(key, 0, TTL) },
        { what: 'a put over one without an end', write: (key: string) => putTwice(key, 0, TTL) },
      ])('comes after the given time by $what', async ({ write }) => {
        const key = bench.newName();

        await write(key);

        const left = await bench.msLeft(key);
        expect(left).toBeLessThanOrEqual(TTL);
        expect(left).toBeGreaterThan(TTL - 50_000);
      });

      it.each([
        { what: 'put', write: (key: string) => backend.put(key, ['a'], 0, 0) },
        { what: 'offer', write: (key: string) => backend.offer(key, ['a'], 7, 0) },
        { what: 'touch', write: (key: string) => putAndTouch(key, TTL, 0) },
        { what: 'a put over one with an end', write: (key: string) => putTwice(key, TTL, 0) },
      ])('never comes after $what with a time of 0', async ({ write }) => {
        const key = bench.newName();

        await write(key);

        expect(await bench.msLeft(key)).toBe(Number.POSITIVE_INFINITY);
      });

      it('is put off by a put that loses, since the loser uses the pin, and not by an offer', async () => {
        const key = bench.newName();
        await backend.put(key, ['a'], 0, 1000);

        await backend.offer(key, ['b'], 1, TTL);
        expect(await bench.msLeft(key)).toBeLessThanOrEqual(1000);

        await backend.put(key, ['b'], 0, TTL);
        await backend.put(key, ['b'], 0, 1000);
        expect(await bench.msLeft(key)).toBeGreaterThan(TTL - 50_000);
      });

      it('leaves an absent key', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a'], 0, TTL);
        await bench.expire(key);

        expect(await backend.read(key)).toBeNull();
        expect(await backend.touch(key, TTL)).toBeNull();
        expect((await backend.put(key, ['b'], 0, TTL)).version).toBeGreaterThan(version);
      });

      async function putAndTouch(key: string, putMs: number, touchMs: number): Promise<void> {
        await backend.put(key, ['a'], 0, putMs);
        await backend.touch(key, touchMs);
      }

      async function putTwice(key: string, firstMs: number, secondMs: number): Promise<void> {
        const { version } = await backend.put(key, ['a'], 0, firstMs);
        await backend.put(key, ['b'], version, secondMs);
      }
    });

    describe('remove', () => {
      it('leaves a trace of a higher version for an hour, and tells', async () => {
        const key = bench.newName();
        const { version } = await backend.put(key, ['a'], 0, TTL);

        expect(await backend.remove(key)).toBe(true);

        const trace = await backend.read(key);
        expect(trace).toEqual({ candidates: [], version: expect.any(Number) });
        expect(trace!.version).toBeGreaterThan(version);
        expect(await bench.msLeft(key)).toBeGreaterThan(3_500_000);
        expect(await bench.msLeft(key)).toBeLessThanOrEqual(3_600_000);
        expect(await bench.published(key)).toEqual([{ name: key, ...trace }]);
      });

      it('is false for an absent and for a deleted key, and tells of both, since a replica may hold it alone', async () => {
        const key = bench.newName();

        expect(await backend.remove(key)).toBe(false);
        expect(await backend.remove(key)).toBe(false);

        const versions = (await bench.published(key)).map((change) => change.version);
        expect(versions).toHaveLength(2);
        expect(versions[1]).toBeGreaterThan(versions[0]!);
      });
    });

    it('keeps worker ids as they are', async () => {
      const key = bench.newName();
      const ids = ['http://[fd00::1]:8000@3', 'https://köln.example:8443/α?x=1&y= 2', '"\\'];

      await backend.put(key, ids, 0, TTL);

      expect((await backend.read(key))!.candidates).toEqual(ids);
      expect((await backend.touch(key, TTL))!.candidates).toEqual(ids);
    });
  });
}
