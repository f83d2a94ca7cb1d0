import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, C, EndpointBench, turn } from '../../../test/support/endpoint-bench.ts';
import { makeWorker } from '../../../test/support/fleet.ts';

let bench: EndpointBench;
beforeEach(() => {
  bench = new EndpointBench();
});
afterEach(() => bench.service.close());

describe('envoy 8.3 a list is pushed only as the truth', () => {
  it('not before the sources were read, then at once', async () => {
    bench.source.settled = false;
    bench.source.set();
    bench.serve();
    const envoy = bench.connect();
    envoy.subscribe();
    await turn();
    expect(envoy.responses).toHaveLength(0);

    bench.source.settle();
    await turn();
    expect(envoy.ack()).toEqual([]);
    expect(bench.service.version).toBe(1);
  });

  it('nor the workers known before that, without those of a source that is away', async () => {
    bench.source.settled = false;
    bench.serve();
    const envoy = bench.connect();
    envoy.subscribe();
    await turn();
    expect(envoy.responses).toHaveLength(0);

    bench.source.settle();
    await turn();
    expect(envoy.ack()).toHaveLength(2);
  });

  it('not while no name of the first workers resolves', async () => {
    bench.source.set(makeWorker('http://name:1', { address: '' }));
    bench.serve();
    await turn();

    expect(bench.service.version).toBe(0);
  });

  it('when the last worker is removed', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change();

    expect(envoy.ack()).toEqual([]);
  });
});

describe('decisions 24 the first list waits for the first look at its workers', () => {
  const pending = { status: 'pending', placeable: false, keepsPins: false } as const;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  function unseen(): ReturnType<EndpointBench['connect']> {
    bench.source.set({ ...A, ...pending }, { ...B, ...pending });
    bench.serve();
    const envoy = bench.connect();
    envoy.subscribe();
    return envoy;
  }

  it('so that an Envoy is not told that all of them are unhealthy', async () => {
    const envoy = unseen();
    await bench.change(A, { ...B, ...pending });
    expect(envoy.responses).toHaveLength(0);

    await bench.change(A, { ...B, status: 'not_ready', placeable: false, keepsPins: false });
    expect(envoy.ack().map(({ health }) => health)).toEqual(['HEALTHY', 'UNHEALTHY']);
    expect(bench.service.version).toBe(1);
  });

  it('but not for ever', async () => {
    const envoy = unseen();
    await turn();
    vi.advanceTimersByTime(999);
    expect(envoy.responses).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(envoy.ack()).toHaveLength(2);
  });

  it('and only the first one does', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(A, B, { ...C, ...pending });
    expect(envoy.ack()).toHaveLength(3);
  });
});

describe('envoy 8.5 another worker at the same address', () => {
  const replaced = makeWorker('http://new:8000', { address: A.address });

  it('is removal and addition, in two versions', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(replaced, B);

    expect(envoy.ack()).toMatchObject([{ worker: { id: B.id } }]);
    expect(envoy.ack()).toMatchObject([{ worker: { id: replaced.id } }, { worker: { id: B.id } }]);
    expect(envoy.unanswered).toBe(0);
    expect(envoy.responses.map(({ versionInfo }) => versionInfo)).toEqual(['1', '2-removal', '2']);
  });

  it('also when the change happened while an answer was due', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    await bench.change(B);
    await bench.change(replaced, B);

    expect(envoy.ack()).toHaveLength(2);
    expect(envoy.ack()).toMatchObject([{ worker: { id: B.id } }]);
    expect(envoy.ack()).toHaveLength(2);
  });

  it('is a single version for an Envoy that never held the old one', async () => {
    await bench.change(replaced, B);
    const envoy = bench.connect();
    envoy.subscribe();

    expect(envoy.ack()).toHaveLength(2);
    expect(envoy.unanswered).toBe(0);
  });

  it('is changed in place when nothing else is left to serve', async () => {
    await bench.change(A);
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(replaced);

    expect(envoy.ack()).toMatchObject([{ worker: { id: replaced.id } }]);
    expect(envoy.unanswered).toBe(0);
  });

  it('a refused removal is not repeated', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(replaced, B);
    envoy.nack('no');

    expect(envoy.unanswered).toBe(0);
    expect(bench.service.lastNack).toMatchObject({ version: '2-removal' });
  });
});

describe('decisions 25 an address that every Envoy has acknowledged', () => {
  it('any, while no Envoy is subscribed', () => {
    bench.connect();

    expect(bench.service.acknowledged('10.9.9.9:1')).toBe(true);
  });

  it('none before the first ACK', () => {
    bench.connect().subscribe();

    expect(bench.service.acknowledged(A.address)).toBe(false);
  });

  it('follows the ACKs of all', async () => {
    const [first, second] = [bench.connect(), bench.connect()];
    first.subscribe();
    second.subscribe();
    first.ack();
    expect(bench.service.acknowledged(A.address)).toBe(false);

    second.ack();
    expect(bench.service.acknowledged(A.address)).toBe(true);
    expect(bench.service.acknowledged(C.address)).toBe(false);

    await bench.change(B, C);
    expect(bench.service.acknowledged(A.address)).toBe(false);
    first.ack();
    expect(bench.service.acknowledged(C.address)).toBe(false);
    second.call.leave();
    expect(bench.service.acknowledged(C.address)).toBe(true);
  });

  it('a refused removal leaves the address in force', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(B);
    envoy.nack('no');

    expect(bench.service.acknowledged(A.address)).toBe(true);
  });
});

describe('any course of changes and answers', () => {
  it('ends with the fleet at Envoy, without a worker changed in place or an empty list that is not true', async () => {
    const worker = fc.record({ id: fc.constantFrom('w1', 'w2', 'w3', 'w4'), address: fc.constantFrom('1', '2', '3') });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('fleet' as const), workers: fc.uniqueArray(worker, { selector: (w) => w.id }) }),
      fc.record({ kind: fc.constantFrom('ack' as const, 'nack' as const) }),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        bench.service.close();
        bench = new EndpointBench();
        const envoy = bench.connect();
        envoy.subscribe();
        let held = new Map<string, string>();
        const fleets: number[] = [2];

        const ack = (): void => {
          const next = new Map(envoy.ack().map((e) => [e.address, (e.worker as { id: string }).id]));
          const swapped = [...next].filter(([at, id]) => held.has(at) && held.get(at) !== id);
          if (swapped.length > 0) expect(swapped).toHaveLength(next.size);
          if (next.size === 0) expect(fleets).toContain(0);
          held = next;
        };

        for (const each of steps) {
          if (each.kind === 'fleet') {
            fleets.push(each.workers.length);
            await bench.change(...each.workers.map((w) => makeWorker(w.id, { address: `10.0.1.${w.address}:1` })));
          } else if (envoy.unanswered > 0) {
            if (each.kind === 'ack') ack();
            else envoy.nack('refused');
          }
          expect(envoy.unanswered).toBeLessThanOrEqual(1);
        }
        await bench.change(A, B, C);
        await bench.change(B, C);
        while (envoy.unanswered > 0) ack();

        expect([...held.values()]).toEqual([B.id, C.id]);
      }),
      { numRuns: 200 },
    );
  });
});
