import { describe, expect, it } from 'vitest';
import type { PinEntry, PinStore } from './pin-store.ts';

/** What every pin store must do. `create` answers with an empty store that holds at most `maxPins`. */
export function pinStoreSuite(name: string, create: (maxPins: number) => PinStore | Promise<PinStore>): void {
  describe(`${name} is a pin store`, () => {
    describe('compare-and-set', () => {
      it('stores a new key for an expected version of 0', async () => {
        const store = await create(10);

        const pin = await store.put('k', ['a'], 0, 1);

        expect(pin.candidates).toEqual(['a']);
        expect(pin.version).toBeGreaterThan(0);
        expect(store.get('k', 2)).toEqual(pin);
        expect(store.size).toBe(1);
      });

      it('tells how long ago a key was used, and counts neither that nor a look as a use', async () => {
        const store = await create(10);
        await store.put('k', ['a'], 0, 1);
        store.get('k', 3);
        store.peek('k');

        expect([store.idleMs('k', 8), store.idleMs('k', 9), store.idleMs('none', 9)]).toEqual([5, 6, null]);
      });

      it('answers with the winner when the key is there already', async () => {
        const store = await create(10);
        const winner = await store.put('k', ['a'], 0, 1);

        expect(await store.put('k', ['b'], 0, 2)).toEqual(winner);
        expect(store.peek('k')).toEqual(winner);
      });

      it('replaces a pin of the expected version, with a higher one', async () => {
        const store = await create(10);
        const first = await store.put('k', ['a'], 0, 1);

        const second = await store.put('k', ['b', 'a'], first.version, 2);

        expect(second.candidates).toEqual(['b', 'a']);
        expect(second.version).toBeGreaterThan(first.version);
        expect(store.peek('k')).toEqual(second);
        expect(store.size).toBe(1);
      });

      it('lets the second of two writers on one version lose', async () => {
        const store = await create(10);
        const { version } = await store.put('k', ['a'], 0, 1);

        const winner = await store.put('k', ['b'], version, 2);

        expect(await store.put('k', ['c'], version, 3)).toEqual(winner);
      });

      it('writes a key anew that is gone', async () => {
        const store = await create(10);
        const { version } = await store.put('k', ['a'], 0, 1);
        await store.delete('k');

        expect((await store.put('k', ['b'], version, 2)).candidates).toEqual(['b']);
      });

      it('leaves a pin in hand as it was', async () => {
        const store = await create(10);
        const written = ['a'];
        const pin = await store.put('k', written, 0, 1);
        written[0] = 'x';

        await store.put('k', ['b', 'a'], pin.version, 2);

        expect(pin.candidates).toEqual(['a']);
      });
    });

    it('knows nothing of a key that was not stored', async () => {
      const store = await create(10);

      expect(store.get('k', 1)).toBeUndefined();
      expect(store.peek('k')).toBeUndefined();
      store.touch('k', 1);
      expect(await store.delete('k')).toBe(false);
      expect(store.size).toBe(0);
    });

    it('fetches what holds, without a use', async () => {
      const store = await create(10);
      const pin = await store.put('k', ['a'], 0, 0);

      expect(await store.fetch('k')).toEqual(pin);
      expect(await store.fetch('other')).toBeUndefined();
      expect(store.away).toBe(false);
      expect(store.sweep(1000, 1000)).toBe(1);
    });

    it('forgets a deleted key', async () => {
      const store = await create(10);
      await store.put('k', ['a'], 0, 1);

      expect(await store.delete('k')).toBe(true);

      expect(store.peek('k')).toBeUndefined();
      expect(store.size).toBe(0);
      expect(await store.delete('k')).toBe(false);
    });

    describe('sticky-sessions 3.11 idle time', () => {
      it.each([
        { idle: 999, removed: 0 },
        { idle: 1000, removed: 1 },
        { idle: 1001, removed: 1 },
      ])('removes $removed pins idle for $idle ms at a limit of 1000', async ({ idle, removed }) => {
        const store = await create(10);
        await store.put('k', ['a'], 0, 5000);

        expect(store.sweep(5000 + idle, 1000)).toBe(removed);
        expect(store.size).toBe(1 - removed);
      });

      it('never removes with a limit of 0', async () => {
        const store = await create(10);
        await store.put('k', ['a'], 0, 0);

        expect(store.sweep(1e12, 0)).toBe(0);
        expect(store.size).toBe(1);
      });

      it.each([
        { how: 'get', use: (store: PinStore) => store.get('k', 900), kept: true },
        { how: 'touch', use: (store: PinStore) => store.touch('k', 900), kept: true },
        { how: 'peek', use: (store: PinStore) => store.peek('k'), kept: false },
        { how: 'list', use: (store: PinStore) => store.list(9, null, 900), kept: false },
        { how: 'a lost put', use: (store: PinStore) => store.put('k', ['b'], 77, 900), kept: false },
      ])('counts $how as a use: $kept', async ({ use, kept }) => {
        const store = await create(10);
        await store.put('k', ['a'], 0, 0);

        await use(store);

        expect(store.sweep(1000, 1000)).toBe(kept ? 0 : 1);
      });

      it('counts a write as a use', async () => {
        const store = await create(10);
        const { version } = await store.put('k', ['a'], 0, 0);
        await store.put('k', ['b'], version, 900);

        expect(store.sweep(1000, 1000)).toBe(0);
      });

      it('removes all idle pins when called until it answers 0, and only those', async () => {
        const store = await create(20_000);
        for (let i = 0; i < 9_000; i++) await store.put(`old-${i}`, ['a'], 0, i);
        for (let i = 0; i < 10; i++) await store.put(`new-${i}`, ['a'], 0, 20_000);

        let removed = 0;
        let last: number;
        do {
          last = store.sweep(20_000, 11_000);
          removed += last;
        } while (last > 0);

        expect(removed).toBe(9_000);
        expect(store.size).toBe(10);
        expect(store.evicted).toBe(0);
      });
    });

    describe('least recently used at the cap', () => {
      it('drops the one not used for the longest time, not the oldest', async () => {
        const store = await create(3);
        for (const [i, key] of ['a', 'b', 'c'].entries()) await store.put(key, ['w'], 0, i);
        store.get('a', 10);
        store.touch('b', 11);

        await store.put('d', ['w'], 0, 12);
        await store.put('e', ['w'], 0, 13);

        expect(['a', 'b', 'c', 'd', 'e'].filter((key) => store.peek(key) !== undefined)).toEqual(['b', 'd', 'e']);
        expect(store.size).toBe(3);
        expect(store.evicted).toBe(2);
      });

      it('drops nobody for a rewrite or a delete', async () => {
        const store = await create(2);
        const { version } = await store.put('a', ['w'], 0, 1);
        await store.put('b', ['w'], 0, 2);

        await store.put('a', ['v'], version, 3);
        await store.delete('b');
        await store.put('c', ['w'], 0, 4);

        expect(store.evicted).toBe(0);
        expect(store.size).toBe(2);
      });
    });

    describe('listing', () => {
      async function listAll(
        store: PinStore,
        limit: number,
        between?: () => void | Promise<void>,
      ): Promise<PinEntry[]> {
        const all: PinEntry[] = [];
        let cursor: string | null = null;
        do {
          const page = store.list(limit, cursor, 100);
          expect(page.pins.length).toBeLessThanOrEqual(limit);
          all.push(...page.pins);
          cursor = page.cursor;
          await between?.();
        } while (cursor !== null);
        return all;
      }

      it('is one empty page without pins', async () => {
        const store = await create(10);

        expect(store.list(5, null, 1)).toEqual({ pins: [], cursor: null });
      });

      it('shows what is known of each pin', async () => {
        const store = await create(10);
        const { version } = await store.put('k', ['a', 'b'], 0, 40);

        expect(await listAll(store, 5)).toEqual([
          { key: 'k', candidates: ['a', 'b'], version, idleMs: 60, shared: expect.any(Boolean) },
        ]);
      });

      it.each([1, 2, 3, 7, 8, 100])('shows each of 7 pins once in pages of %i', async (limit) => {
        const store = await create(10);
        for (let i = 0; i < 7; i++) await store.put(`k${i}`, ['a'], 0, i);

        const keys = (await listAll(store, limit)).map((entry) => entry.key);

        expect(keys.sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6']);
      });

      it('shows a pin that stays exactly once while others come and go', async () => {
        const store = await create(100);
        for (let i = 0; i < 20; i++) await store.put(`k${i}`, ['a'], 0, i);
        let round = 0;

        const entries = await listAll(store, 2, async () => {
          store.get(`k${19 - round}`, 90);
          await store.delete(`k${10 + round}`);
          await store.put(`new-${round}`, ['b'], 0, 91);
          round = Math.min(round + 1, 9);
        });

        for (let i = 0; i < 10; i++) expect(entries.filter((entry) => entry.key === `k${i}`)).toHaveLength(1);
      });

      it('ends at a cursor that it never gave', async () => {
        const store = await create(10);
        await store.put('k', ['a'], 0, 1);

        expect(store.list(5, 'no such cursor', 2)).toEqual({ pins: [], cursor: null });
      });
    });
  });
}
