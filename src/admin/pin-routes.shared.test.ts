import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';
import { type Pin, type PinPage, type PinStore, PinStoreAway } from '../pins/pin-store.ts';

const A = 'http://127.0.0.1:8000';
const B = 'http://127.0.0.1:8001';
const NAME = '7:unknown:s:conv';
const VERSION = 1_000;
const ELSEWHERE = ['http://elsewhere:1'];

/** A replica's pins beside a store that others write to. */
class FakeSharedPins implements PinStore {
  readonly kind = 'redis';
  readonly held = new Map<string, Pin>();
  away = false;
  /** It answers nothing, and the breaker has not opened yet. */
  hangs = false;
  /** Writes that it takes after the answer only. */
  late = 0;
  /** Times that another replica is faster. */
  conflicts = 0;
  puts = 0;
  readonly evicted = 0;
  readonly #local = new MemoryPinStore({ maxPins: 10 });

  get size(): number {
    return this.#local.size;
  }

  get(key: string, now: number): Pin | undefined {
    return this.#local.get(key, now);
  }

  peek(key: string): Pin | undefined {
    return this.#local.peek(key);
  }

  idleMs(key: string, now: number): number | null {
    return this.#local.idleMs(key, now);
  }

  touch(): void {}

  sweep(): number {
    return 0;
  }

  list(limit: number, cursor: string | null, now: number): PinPage {
    return this.#local.list(limit, cursor, now);
  }

  async fetch(key: string): Promise<Pin | undefined> {
    if (this.away || this.hangs) throw new PinStoreAway();
    return this.held.get(key);
  }

  async put(key: string, candidates: readonly string[], expected: number, now: number): Promise<Pin> {
    this.puts++;
    const local = this.peek(key);
    if (local !== undefined && local.version !== expected) return local;
    if (this.late-- > 0) return this.#hold(key, candidates, now);
    const version = (this.held.get(key)?.version ?? VERSION) + 1;
    const written = this.conflicts-- > 0 ? ELSEWHERE : candidates;
    this.held.set(key, { candidates: written, version });
    return this.#hold(key, written, now);
  }

  async delete(key: string): Promise<boolean> {
    if (this.away || this.hangs) throw new PinStoreAway();
    this.#local.delete(key);
    return this.held.delete(key);
  }

  #hold(key: string, candidates: readonly string[], now: number): Pin {
    return this.#local.put(key, candidates, this.peek(key)?.version ?? 0, now);
  }
}

let bench: AdminBench;
let pins: FakeSharedPins;

beforeEach(async () => {
  pins = new FakeSharedPins();
  bench = await new AdminBench().open({ pins });
  bench.addReady(A);
  bench.addReady(B);
});
afterEach(() => bench.close());

const move = () => bench.ask('PUT', '/pins/conv', { worker_id: B });
const elsewhere = { candidates: [A], version: VERSION };

describe('GET of a shared pin', () => {
  it('shows what this process and what the store hold', async () => {
    const local = await pins.put(NAME, [A], 0, 0);
    const shared = { candidates: [B, A], version: VERSION + 5 };
    pins.held.set(NAME, shared);
    expect((await bench.ask('GET', '/pins/conv')).json).toMatchObject({
      worker_id: A,
      local,
      shared,
      shared_reason: null,
    });
  });

  it('shows one that only other replicas know', async () => {
    pins.held.set(NAME, elsewhere);
    expect((await bench.ask('GET', '/pins/conv')).json).toMatchObject({ worker_id: A, local: null, shared: elsewhere });
  });

  it.each([
    ['is away', () => (pins.away = true), 'the pin store does not answer'],
    ['hangs', () => (pins.hangs = true), 'the pin store does not answer'],
    ['has lost it', () => pins.held.clear(), 'the pin store does not hold the key'],
  ])('shows the local one while the store %s', async (_, happens, reason) => {
    await pins.put(NAME, [A], 0, 0);
    happens();

    const { status, json } = await bench.ask('GET', '/pins/conv');

    const local = { candidates: [A], version: expect.any(Number) };
    expect([status, json]).toMatchObject([200, { worker_id: A, local, shared: null, shared_reason: reason }]);
  });
});

describe('PUT of a shared pin', () => {
  it('moves a key that only other replicas know', async () => {
    pins.held.set(NAME, elsewhere);

    expect((await move()).json).toMatchObject({ worker_id: B, shared: { candidates: [B, A] } });
    expect(pins.held.get(NAME)?.version).toBeGreaterThan(VERSION);
  });

  it('follows other writers, and moves it again', async () => {
    pins.held.set(NAME, elsewhere);
    pins.conflicts = 3;

    expect((await move()).json.shared.candidates).toEqual([B, ...ELSEWHERE]);
    expect(pins.puts).toBe(4);
  });

  it('gives up where others write it all the time', async () => {
    pins.held.set(NAME, elsewhere);
    pins.conflicts = 1000;

    expectError(await move(), 409, 'pin_contended', 'Conflict');
  });

  it('waits until a slow store has it', async () => {
    pins.held.set(NAME, elsewhere);
    pins.late = 3;

    expect((await move()).json).toMatchObject({ shared: { candidates: [B, A] } });
  });

  it('is no success while the store does not say so', async () => {
    pins.held.set(NAME, elsewhere);
    pins.late = 1000;

    expectError(await move(), 503, 'pin_store_unavailable', 'Service Unavailable');
  });

  it('gives a pin back that the store has lost', async () => {
    await pins.put(NAME, [B, A], 0, 0);
    pins.held.clear();

    expect((await move()).json.shared.candidates).toEqual([B, A]);
  });
});

describe('while the store is away', () => {
  it.each([
    ['away', () => (pins.away = true)],
    ['away, and nobody has noticed', () => (pins.hangs = true)],
  ])('nothing is changed: %s', async (_, happens) => {
    await pins.put(NAME, [A], 0, 0);
    happens();
    const { puts } = pins;

    for (const answer of [await move(), await bench.ask('DELETE', '/pins/conv')]) {
      expectError(answer, 503, 'pin_store_unavailable', 'Service Unavailable');
    }
    expect([pins.peek(NAME)?.candidates, pins.held.get(NAME)?.candidates, pins.puts]).toEqual([[A], [A], puts]);
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s of a key that is not here is not called unknown', async (method) => {
    const body = method === 'PUT' ? { worker_id: B } : undefined;
    for (const happens of ['away', 'hangs'] as const) {
      pins[happens] = true;
      const answer = await bench.ask(method, '/pins/conv_t1', body);
      expectError(answer, 503, 'pin_store_unavailable', 'Service Unavailable');
    }
  });

  it('the list says so', async () => {
    pins.away = true;

    expect((await bench.ask('GET', '/pins')).json).toMatchObject({ store: 'redis', away: true });
  });
});

describe('DELETE of a shared pin', () => {
  it('forgets a key that only other replicas know', async () => {
    pins.held.set(NAME, elsewhere);

    expect((await bench.ask('DELETE', '/pins/conv')).status).toBe(200);
    expect(pins.held.size).toBe(0);
  });
});
