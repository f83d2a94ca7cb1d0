import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryPods } from '../../../test/support/kube/memory-pods.ts';
import { until } from '../../../test/support/until.ts';
import type { Pod } from './pod.ts';
import { PodWatch } from './pod-watch.ts';

/** A watch whose pauses take one turn of the event loop; what it waited for is kept. */
function follow(api: MemoryPods) {
  const pauses: number[] = [];
  const seen: string[] = [];
  const failures: number[] = [];
  const sizes: number[] = [];
  let pods: ReadonlyMap<string, Pod> = new Map();
  let clock = 0;
  const watch = new PodWatch({
    api,
    random: () => 0,
    now: () => clock,
    pause: async (ms) => {
      pauses.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    listener: {
      pods: (all) => {
        pods = all;
        sizes.push(all.size);
      },
      seen: (event) => seen.push(event),
      live: () => seen.push('live'),
      failed: (_, tries) => failures.push(tries),
    },
  });
  return {
    watch,
    pauses,
    seen,
    failures,
    sizes,
    pass: (ms: number) => {
      clock += ms;
    },
    /** Pods by name: uid, address and readiness. */
    state: () => describePods([...pods.values()]),
  };
}

function describePods(pods: readonly Pod[]): string[] {
  return pods.map(({ name, uid, ip, ready, terminating }) => `${name} ${uid} ${ip} ${ready} ${terminating}`).toSorted();
}

function truth(api: MemoryPods): string[] {
  return api.log
    .list({ namespace: null, labels: '' })
    .map(({ metadata, status }) => {
      const { podIP = '', conditions } = status as { podIP?: string; conditions: { status: string }[] };
      const ready = conditions[0]!.status === 'True';
      return `${metadata.name} ${metadata.uid} ${podIP} ${ready} ${metadata.deletionTimestamp !== undefined}`;
    })
    .toSorted();
}

const NAMES = ['a', 'b', 'c', 'd'] as const;
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('create', 'create', 'flip', 'flip', 'move', 'terminate', 'remove'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom('cut', 'end', 'expire', 'turn', 'turn').map((kind) => ({ kind, name: '' })) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 4 }).map((times) => ({ kind: 'fail', name: String(times) })) },
);

describe('a copy of the pods', () => {
  it('is what the pods are in the end, whatever breaks on the way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const api = new MemoryPods();
        const { watch, state } = follow(api);
        const shapes = new Map<string, { ip: string; ready: boolean }>();
        let addresses = 0;
        for (const each of steps) {
          if (each.kind === 'turn') await new Promise((resolve) => setImmediate(resolve));
          else if (each.kind === 'fail') api.failures = Number(each.name);
          else if (each.kind === 'cut') api.cut();
          else if (each.kind === 'end') api.end();
          else if (each.kind === 'expire') api.log.expire();
          else {
            const shape = shapes.get(each.name);
            if (each.kind === 'create') {
              if (shape !== undefined) continue;
              shapes.set(each.name, { ip: `10.0.0.${++addresses}`, ready: true });
              api.log.create({ name: each.name, ...shapes.get(each.name)! });
            } else if (shape === undefined) {
            } else if (each.kind === 'terminate') {
              api.log.terminate(each.name);
            } else if (each.kind === 'remove') {
              shapes.delete(each.name);
              api.log.remove(each.name);
            } else {
              if (each.kind === 'flip') shape.ready = !shape.ready;
              else shape.ip = `10.0.0.${++addresses}`;
              api.log.update(each.name, shape);
            }
          }
        }

        await until(() => JSON.stringify(state()) === JSON.stringify(truth(api)), 'the copy is true', 2_000).catch(() =>
          expect(state()).toEqual(truth(api)),
        );
        watch.close();
      }),
      { numRuns: 150 },
    );
  });

  it('is never emptied by a server that does not answer', async () => {
    const api = new MemoryPods();
    api.log.create({ name: 'a', ip: '10.0.0.1', ready: true });
    const { watch, state, failures, seen, sizes } = follow(api);
    await until(() => api.watches === 1, 'it watches');

    api.failures = 5;
    api.cut();
    api.log.update('a', { ready: false });
    api.log.expire();
    await until(() => seen.includes('expired'), 'the version is gone');
    await until(() => JSON.stringify(state()) === JSON.stringify(truth(api)), 'the copy is true');
    expect(failures).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sizes).not.toContain(0);
    watch.close();
  });

  it('waits longer from try to try, and not at all after a watch that was good', async () => {
    const api = new MemoryPods();
    const { watch, pauses, pass } = follow(api);
    await until(() => api.watches === 1, 'it watches');

    api.failures = 9;
    api.cut();
    await until(() => api.watches === 11, 'it watches again');
    expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);

    pass(60_000);
    api.end();
    await until(() => api.watches === 12, 'it watches again');
    expect(pauses).toHaveLength(10);

    api.cut();
    await until(() => api.watches === 13, 'it watches again');
    expect(pauses.at(-1)).toBe(200);
    watch.close();
  });

  it('does not ask at once a server that ends each watch at once', async () => {
    const api = new MemoryPods();
    const { watch, pauses } = follow(api);
    for (let round = 1; round <= 3; round++) {
      await until(() => api.watches === round, 'it watches');
      api.end();
    }
    await until(() => api.watches === 4, 'it watches');
    expect(pauses).toEqual([200, 400, 800]);
    watch.close();
  });

  it('lists anew after a watch that was long and said nothing: its version may be ahead of the server', async () => {
    const api = new MemoryPods();
    const { watch, pass } = follow(api);
    await until(() => api.watches === 1, 'it watches');

    pass(150_000);
    api.cut();

    await until(() => api.lists === 2, 'it lists');
    watch.close();
  });

  it('reads a list anew and whole when its pages expire', async () => {
    const api = new MemoryPods();
    for (const each of NAMES) api.log.create({ name: each, ip: '10.0.0.1' });
    const list = api.list.bind(api);
    api.list = async (token, paged) => {
      if (token !== '') {
        api.log.create({ name: `late-${api.lists}` });
        api.log.expire();
      }
      return list(token, paged);
    };
    const { watch, state } = follow(api);

    await until(() => api.watches === 1, 'it watches');
    expect(state()).toEqual(truth(api));
    watch.close();
  });

  it('ends with its close', async () => {
    const api = new MemoryPods();
    const { watch } = follow(api);
    await until(() => api.watches === 1, 'it watches');
    watch.close();
    api.log.create({ name: 'a' });
    await new Promise((resolve) => setImmediate(resolve));
    expect([api.lists, api.watches]).toEqual([1, 1]);
  });
});
