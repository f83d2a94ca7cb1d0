import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../../test/support/fleet.ts';
import { headOf } from '../../../test/support/head.ts';
import { chat, driver, PATH, pair, place, times, worker } from '../../../test/support/pair-routing.ts';
import { type DriverOptions, RouterDriver } from '../../../test/support/routing.ts';
import { endpointOf } from '../../request/endpoint.ts';
import type { Worker } from '../../workers/worker.ts';
import type { Decision } from '../decision.ts';
import type { PolicyName } from '../policy-name.ts';

describe('policies 4.1 selection of the pair', () => {
  it('places each leg among the workers of its type', () => {
    const fleet = driver('p1 p2 d1 d2 r1');
    expect(times(4, () => place(fleet))).toEqual(['p1/d1', 'p2/d2', 'p1/d1', 'p2/d2']);
  });

  it('each leg has a policy of its own', () => {
    const fleet = driver('p1 p2 d1 d2', { pair: { prefill: 'round_robin', decode: 'random' } });
    expect(times(3, () => place(fleet))).toEqual(['p1/d1', 'p2/d1', 'p1/d1']);
  });

  it('legs of the same policy do not share its state', () => {
    const fleet = driver('p1 d1 d2');
    expect(times(3, () => place(fleet))).toEqual(['p1/d1', 'p1/d2', 'p1/d1']);
  });

  it('a prefill worker is followed by decode workers that fit it', () => {
    const fleet = driver('p1:sglang p2:vllm d1:vllm d2:sglang d3:vllm');
    expect(times(4, () => place(fleet))).toEqual(['p1/d2', 'p2/d3', 'p1/d2', 'p2/d1']);
  });

  it('policies 1.2: the partners of each prefill worker are covered evenly', () => {
    const fleet = driver('p1:sglang p2:vllm d1:sglang d2:sglang d3:vllm d4:vllm');
    expect(new Set(times(4, () => place(fleet)))).toEqual(new Set(['p1/d1', 'p2/d3', 'p1/d2', 'p2/d4']));
  });

  it('a prefill worker whose partners are all out is not chosen', () => {
    const fleet = driver('p1:sglang p2:vllm d1:vllm d2:sglang');
    fleet.fleet.set('down', 'd2');
    expect(times(2, () => place(fleet))).toEqual(['p2/d1', 'p2/d1']);
    fleet.fleet.set('up', 'd2');
    expect(new Set(times(2, () => place(fleet)))).toEqual(new Set(['p1/d2', 'p2/d1']));
  });

  it('with pairing off any two work together', () => {
    const fleet = driver('p1:sglang d1:vllm', { pair: { mode: 'off' } });
    expect(place(fleet)).toBe('p1/d1');
  });

  it('Envoy goes on to further partners only', () => {
    const fleet = driver('p1:sglang d1:sglang d2:vllm d3:sglang', { fallbacks: 3 });
    const { fallbacks, prefill, closed } = fleet.place(chat());
    expect(fallbacks.map(({ id }) => id)).toEqual(['d3']);
    expect(prefill?.fallbacks).toEqual([]);
    expect(closed).toBe(true);
    expect(driver('p1 d1 d2').place(chat()).closed).toBe(false);
  });

  it('a model has the workers that list it, on both legs', () => {
    const fleet = new TestFleet(
      ['p1', 'p2', 'd1', 'd2'].map((id, i) => worker(id, { models: [i % 2 === 0 ? 'm' : 'n'] })),
      true,
    );
    const routed = new RouterDriver(fleet, { pair: {} });
    expect(place(routed, { model: 'm' })).toBe('p1/d1');
    expect(place(routed, { model: 'n' })).toBe('p2/d2');
  });

  it('a request is kept within the workers it may use', () => {
    const fleet = driver('p1 p2 d1 d2');
    const eligible = { allows: ({ id }: Worker) => id.endsWith('2') };
    const { snapshot } = fleet.fleet;
    const request = {
      head: headOf({ path: PATH }),
      model: '',
      bodyKeys: null,
      prompt: { tokens: null, text: null, namespace: null },
    };
    const outcome = fleet.router.decide(request, snapshot, 1, () => 0, eligible);
    expect(pair(outcome as Decision)).toBe('p2/d2');
  });

  it('a part of the fleet that is not split has no legs', () => {
    const fleet = driver('p1 d1 r1');
    const whole = new TestFleet([worker('r1')]);
    const request = {
      head: headOf({ path: PATH }),
      model: '',
      bodyKeys: null,
      prompt: { tokens: null, text: null, namespace: null },
    };
    expect(fleet.router.decide(request, whole.snapshot, 1, () => 0)).toMatchObject({
      worker: { id: 'r1' },
      prefill: null,
    });
  });
});

describe('policies 4.5 other requests', () => {
  it.each([
    ['/v1/messages/count_tokens', '-/p1'],
    ['/tokenize', '-/d1'],
    ['/v1/audio/transcriptions', '-/d1'],
    ['/v1/realtime', '-/d1'],
    ['/v1/chat/completions', 'p1/d1'],
    ['/v1/completions', 'p1/d1'],
    ['/v1/messages', 'p1/d1'],
    ['/v1/responses', 'p1/d1'],
    ['/generate', 'p1/d1'],
    ['/v1/rerank', 'p1/d1'],
  ])('%s goes to %s', (path, where) => {
    expect(pair(driver('p1 d1').place({ path }))).toBe(where);
  });

  it('one that has no body is not prefilled', () => {
    const request = {
      head: headOf({ path: PATH, method: 'GET', endOfStream: true }),
      model: '',
      bodyKeys: null,
      prompt: { tokens: null, text: null, namespace: null },
    };
    const { router, fleet } = driver('p1 d1');
    expect(router.decide(request, fleet.snapshot, 1, () => 0)).toMatchObject({ worker: { id: 'd1' }, prefill: null });
  });

  it.each(['/v1/embeddings', '/v1/classify'])('%s is not served', (path) => {
    expect(driver('p1 d1').route({ path })).toMatchObject({ kind: 'refused', reason: 'endpoint_not_supported' });
  });
});

describe('sticky-sessions 3.3 and 3.12: legs pin separately', () => {
  it('the same key has an entry for each leg', () => {
    const fleet = driver('p1 p2 d1 d2');
    expect(place(fleet)).toBe('p1/d1');
    expect(place(fleet, { rid: 'conv', model: 'llama-3' })).toBe('p2/d2');

    expect(fleet.candidates('7:llama-3:p:conv')).toEqual(['p2']);
    expect(fleet.candidates('7:llama-3:d:conv')).toEqual(['d2']);
    expect(fleet.candidates('7:llama-3:s:conv')).toBeUndefined();
    expect(times(3, () => place(fleet, { rid: 'conv', model: 'llama-3' }))).toEqual(['p2/d2', 'p2/d2', 'p2/d2']);
  });

  it('manual pins each leg, too', () => {
    const fleet = driver('p1 p2 d1 d2', { policy: 'manual', mode: 'min_load', keys: { override: false } });
    expect(place(fleet, { key: 'k' })).toBe('p1/d1');
    expect(fleet.candidates('manual:p:k')).toEqual(['p1']);
    expect(fleet.candidates('manual:d:k')).toEqual(['d1']);
  });

  it('one leg is placed anew while the other stays', () => {
    const fleet = driver('p1 p2 d1 d2');
    expect(place(fleet, { rid: 'a' })).toBe('p1/d1');
    fleet.fleet.set('down', 'd1');
    const { prefill, worker, trail } = fleet.place(chat({ rid: 'a' }));
    expect([prefill?.worker.id, worker.id]).toEqual(['p1', 'd2']);
    expect([prefill?.trail.stickyBranch, trail.stickyBranch]).toEqual(['occupied_hit', 'occupied_miss']);
  });

  it('a decode pin that does not fit the prefill worker is passed over', () => {
    const fleet = driver('p1:sglang p2:vllm d1:sglang d2:vllm');
    expect(place(fleet, { rid: 'a' })).toBe('p1/d1');
    fleet.fleet.set('down', 'p1');
    expect(place(fleet, { rid: 'a' })).toBe('p2/d2');
    expect(fleet.candidates('7:unknown:d:a')).toEqual(['d2', 'd1']);
  });

  it('both legs count the same key in flight, each on its worker', () => {
    const fleet = driver('p1 p2 d1 d2', { inflightCap: 1 });
    const first = fleet.hold(chat({ rid: 'a' }));
    expect([fleet.fleet.load('p1').ofKey('a'), fleet.fleet.load('d1').ofKey('a')]).toEqual([1, 1]);
    const second = fleet.hold(chat({ rid: 'a' }));
    expect(pair(second.decision)).toBe('p2/d2');
    expect(second.decision.trail.stickyBranch).toBe('cap_respill');
    first.end();
    second.end();
    for (const id of ['p1', 'p2', 'd1', 'd2']) expect(fleet.fleet.load(id).requests).toBe(0);
  });

  it('a drained decode worker keeps its keys, and takes no others', () => {
    const fleet = driver('p1:sglang p2:vllm d1:sglang d2:vllm');
    expect(place(fleet, { rid: 'a' })).toBe('p1/d1');
    fleet.fleet.set('draining', 'd1');
    expect(place(fleet, { rid: 'a' })).toBe('p1/d1');
    expect(place(fleet, { rid: 'b' })).toBe('p2/d2');
  });

  it('a pinned prefill worker whose partners keep other keys only is left', () => {
    const fleet = driver('p1:sglang p2:vllm d1:sglang d2:vllm d3:sglang');
    expect(place(fleet, { rid: 'a' })).toBe('p1/d1');
    fleet.fleet.set('down', 'd1');
    fleet.fleet.set('draining', 'd3');
    expect(place(fleet, { rid: 'a' })).toBe('p2/d2');
  });

  it('keys stay on both legs over 50 turns while one prefill worker dies', () => {
    const fleet = driver('p1 p2 d1 d2');
    const keys = ['a', 'b', 'c', 'd'];
    const before = new Map(keys.map((rid) => [rid, place(fleet, { rid })]));
    expect(new Set(before.values())).toEqual(new Set(['p1/d1', 'p2/d2']));
    for (let turn = 0; turn < 50; turn++) {
      if (turn === 20) fleet.fleet.set('down', 'p1');
      for (const rid of keys) {
        const [prefill, decode] = before.get(rid)!.split('/');
        expect(place(fleet, { rid })).toBe(turn < 20 || prefill === 'p2' ? `${prefill}/${decode}` : `p2/${decode}`);
      }
    }
  });
});

describe('sticky-sessions 1.4 target worker', () => {
  const fleet = (workers: string) => driver(workers, { policy: 'consistent_hashing', keys: { override: false } });

  it('the number counts among the workers of each leg', () => {
    expect(place(fleet('p1 p2 d1 d2'), { target: '1' })).toBe('p2/d2');
  });

  it('a leg that has no such worker refuses the request', () => {
    expect(fleet('p1 p2 d1').route(chat({ target: '1' }))).toMatchObject({
      reason: 'no_available_workers',
      leg: 'decode',
      detail: 'Policy consistent_hashing failed to select a decode worker',
    });
  });
});

describe('sticky-sessions 4.1: what is read', () => {
  const need = (options: DriverOptions, parts: { path?: string; headers?: [string, string][] } = {}) => {
    const { router, fleet } = driver('p1 d1', options);
    const path = parts.path ?? PATH;
    return router.bodyNeed(headOf({ path, headers: parts.headers ?? [] }), fleet.snapshot, endpointOf(path));
  };
  const unkeyed: DriverOptions = { keys: { override: false } };
  const sidecar = (prefill: PolicyName, decode: PolicyName): DriverOptions => ({
    ...unkeyed,
    pair: { readsBodies: false, prefill, decode },
  });

  it.each<
    [
      what: string,
      options: DriverOptions,
      parts: { path?: string; headers?: [string, string][] },
      reason: string | null,
    ]
  >([
    ['every body that is split', unkeyed, {}, 'pd'],
    ['no body of other endpoints', unkeyed, { path: '/v1/messages/count_tokens' }, null],
    ['no body that is refused', unkeyed, { path: '/v1/embeddings' }, null],
    ['with a sidecar only what decides', sidecar('round_robin', 'random'), {}, null],
    ['with a sidecar for the prefill policy', sidecar('cache_aware', 'random'), {}, 'policy_needs_text'],
    ['with a sidecar for the decode policy', sidecar('random', 'cache_aware'), {}, 'policy_needs_text'],
    ['with a sidecar for the key', { pair: { readsBodies: false } }, {}, 'routing_key_override'],
    [
      'policies 4.5: also with a token hint, which does not count',
      sidecar('cache_aware', 'random'),
      { headers: [['x-smg-routing-tokens', '1,2,3']] },
      'policy_needs_text',
    ],
  ])('%s', (_, options, parts, reason) => {
    expect(need(options, parts)).toBe(reason);
  });
});
