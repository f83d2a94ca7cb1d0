import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeReport } from '../../test/support/load-report.ts';
import { Dispatch, HANDOFF } from '../../test/support/pair-bench.ts';
import { FACTS, PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import type { FinalAnswer } from '../picker/answer.ts';
import { ASSIGNMENT_MODES } from '../routing/assignment.ts';
import { PAIRING_MODES } from '../routing/pairing/compatibility.ts';
import { POLICY_NAMES, type PolicyName } from '../routing/policy-name.ts';
import { FAILBACKS } from '../routing/stickiness.ts';
import { renderMetrics } from '../telemetry/metrics.ts';
import { createDraws } from '../util/random.ts';
import { AskedHead, type AskedRequest, subsetOf } from './asked-request.ts';
import { Explainer } from './explainer.ts';

const WORKERS = 6;
/** `cache_aware` remembers most. */
const policy = fc.constantFrom<PolicyName>(...POLICY_NAMES, 'cache_aware', 'cache_aware');
const worker = fc.integer({ min: 1, max: WORKERS });

const options = fc.record({
  policy,
  legs: fc.record({ prefill: policy, decode: policy, mode: fc.constantFrom(...PAIRING_MODES) }),
  split: fc.boolean(),
  mode: fc.constantFrom(...ASSIGNMENT_MODES),
  override: fc.constantFrom(true, true, false),
  order: fc.constantFrom('rid-first' as const, 'header-first' as const, 'header-only' as const),
  failback: fc.constantFrom(...FAILBACKS),
  inflightCap: fc.constantFrom(0, 1, 2),
  pinLoadFactor: fc.constantFrom(0, 1.2),
  fallbacks: fc.nat(3),
  shed: fc.boolean(),
  learnFromPins: fc.constantFrom(true, true, false),
  checkModel: fc.boolean(),
  tenantHeader: fc.constantFrom(null, 'x-tenant'),
  selection: fc.boolean(),
  seed: fc.uint32Array({ minLength: 4, maxLength: 4 }).map((words) => words.with(0, (words[0] ?? 0) | 1)),
  models: fc.array(fc.constantFrom(['a'], ['a', 'b'], ['a', 'b'], ['b'], []), {
    minLength: WORKERS,
    maxLength: WORKERS,
  }),
  labels: fc.array(fc.option(policy, { freq: 6 }), { minLength: WORKERS, maxLength: WORKERS }),
  runtimes: fc.array(fc.constantFrom('vllm', 'vllm', 'sglang'), { minLength: WORKERS, maxLength: WORKERS }),
  ranks: fc.option(worker, { freq: 3 }),
});

const change = fc.oneof(
  fc.record({ do: fc.constantFrom('down' as const, 'up' as const, 'drain' as const, 'undrain' as const), worker }),
  fc.record({ do: fc.constantFrom('fails' as const, 'works' as const), worker }),
  fc.record({ do: fc.constant('overloaded' as const), worker, is: fc.boolean() }),
  fc.record({
    do: fc.constant('reports' as const),
    worker,
    waitingRequests: fc.nat(9),
    waitingUncachedTokens: fc.nat(5000),
    genThroughput: fc.nat(300),
    tokenUsage: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({ do: fc.constant('ends' as const), worker: fc.nat(9) }),
  fc.record({ do: fc.constant('later' as const), worker: fc.constantFrom(1, 700, 200_000) }),
);

const text = fc.oneof(
  fc.constantFrom('', 'hello', 'hello world, how are you today'),
  fc.stringMatching(/^[ab]{1,20}$/),
);
const chat = fc
  .record(
    {
      rid: fc.constantFrom('r1', 'r1_t2', 'r2_t1_r3'),
      model: fc.constantFrom('a', 'b', 'other'),
      content: text,
      stream: fc.boolean(),
    },
    { requiredKeys: ['content'] },
  )
  .map(({ content, ...rest }) => JSON.stringify({ ...rest, messages: [{ role: 'user', content }] }));
const body = fc.oneof(
  { weight: 8, arbitrary: chat },
  fc.constantFrom('', '{"rid": 7}', 'no JSON', `{"model":"a","prompt":"${'x'.repeat(1000)}"}`),
);
const asked: fc.Arbitrary<AskedRequest> = fc.record({
  method: fc.constantFrom('POST', 'POST', 'GET'),
  path: fc.oneof(
    { weight: 8, arbitrary: fc.constant('/v1/chat/completions') },
    fc.constantFrom('/v1/embeddings', '/v1/messages/count_tokens', '/else'),
  ),
  headers: fc.array(
    fc.constantFrom<readonly [string, string]>(
      ['x-smg-routing-key', 'k1'],
      ['X-SMG-Routing-Key', 'k2_t1'],
      ['x-smg-target-worker', '0'],
      ['x-smg-target-worker', '10.0.0.2:8000'],
      ['x-smg-target-worker', 'nobody'],
      ['x-smg-routing-tokens', '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17'],
      ['authorization', 'Bearer t'],
      ['content-type', 'text/plain'],
      ['x-tenant', 'ann'],
      ['test-epp-endpoint-selection', '10.0.0.1,10.0.0.3'],
    ),
    { maxLength: 3 },
  ),
  body: body.map((each) => Buffer.from(each)),
  subset: fc.option(
    fc.uniqueArray(
      worker.map((n) => `10.0.0.${n}:8000`),
      { minLength: 1 },
    ),
    { freq: 4 },
  ),
});
const rounds = fc.array(fc.record({ changes: fc.array(change, { maxLength: 3 }), asked }), {
  minLength: 8,
  maxLength: 14,
});

type Options = typeof options extends fc.Arbitrary<infer T> ? T : never;
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** A picker over a fleet of that kind, and what happens to it. */
class House {
  readonly bench: PickerBench;
  readonly dispatch = new Dispatch();
  readonly #running: string[] = [];

  constructor(made: Options) {
    const { split, legs, selection, models, labels, runtimes, ranks, order, override, policy: name, mode, seed } = made;
    this.dispatch.atOnce = HANDOFF;
    const { failback, inflightCap, pinLoadFactor, fallbacks, shed, learnFromPins, checkModel, tenantHeader } = made;
    this.bench = new PickerBench({
      policy: name,
      mode,
      keys: { override, order },
      routing: { failback, inflightCap, pinLoadFactor, fallbacks, shed, learnFromPins, checkModel, tenantHeader },
      config: { testEndpointSelection: selection },
      draws: createDraws(seed),
      envoyKnows: (address) => address !== '10.0.0.4:8000',
      ...(split ? { pair: { dispatch: this.dispatch, ...legs } } : {}),
    });
    const { registry } = this.bench;
    for (let n = 1; n <= WORKERS; n++) {
      const label = labels[n - 1] ?? null;
      const type = n <= WORKERS / 2 ? 'prefill' : 'decode';
      const fields = {
        models: models[n - 1]!.map((id) => ({ id })),
        ...(split ? { worker_type: type, runtime_type: runtimes[n - 1] } : {}),
        ...(label === null ? {} : { labels: { policy: label } }),
      };
      if (n === ranks && !split) this.bench.engine(n, 2, fields);
      else this.bench.add(n, fields);
    }
    registry.markSettled();
    for (const policies of this.bench.allPolicies) policies.follow(registry.current);
    registry.subscribe((snapshot) => {
      for (const policies of this.bench.allPolicies) policies.follow(snapshot);
    });
  }

  take(step: Change): void {
    const { bench } = this;
    const { registry } = bench;
    const instances = [...registry.instances].filter((each) => each.id.startsWith(urlOf(step.worker)));
    switch (step.do) {
      case 'later':
        bench.now += step.worker;
        break;
      case 'ends':
        bench.ledger.end(this.#running.splice(step.worker % Math.max(1, this.#running.length), 1)[0] ?? '', 'end');
        break;
      default:
        for (const instance of instances) this.#happens(step, instance);
    }
  }

  #happens(step: Change, instance: Parameters<PickerBench['registry']['assumeReady']>[0]): void {
    const { registry } = this.bench;
    const down = { at: 0, ok: false, detail: 'down', durationMs: 1 };
    switch (step.do) {
      case 'down':
        registry.probed(instance, down, { successThreshold: 1, failureThreshold: 1 }, true);
        break;
      case 'up':
        registry.assumeReady(instance);
        break;
      case 'drain':
      case 'undrain':
        registry[step.do](instance.id);
        break;
      case 'fails':
      case 'works':
        for (let i = 0; i < 12; i++) registry.attempted(instance.id, step.do === 'fails' ? 'failure' : 'success');
        break;
      case 'overloaded':
        registry.overloadJudged(new Map([[instance, step.is]]));
        break;
      case 'reports':
        instance.engine.received({ ...makeReport(step), at: this.bench.now });
    }
  }

  /** All that a request can change. */
  seen(): unknown {
    const { bench, dispatch } = this;
    const { registry, local, ledger, now } = bench;
    return JSON.parse(
      JSON.stringify({
        metrics: renderMetrics(bench.metrics),
        pins: local.list(1000, null, now),
        evicted: local.evicted,
        inFlight: ledger.inFlight,
        workers: registry.current.workers.map((each) => [each, each.load.requests, each.load.distinctKeys]),
        memories: bench.allPolicies.map(({ all }) => all.map(({ memory }) => memory?.sizes() ?? null)),
        prefills: dispatch.starts.length,
        recorded: bench.ring.next,
        failures: bench.failures.map(String),
        logged: bench.logged,
      }),
    );
  }

  /** As an adapter asks: the plan, then the pick with the body where that is wanted. */
  ask(request: AskedRequest): FinalAnswer {
    const head = new AskedHead(request);
    const { readBody } = this.bench.picker.plan(head);
    const bytes = readBody && request.body.length > 0 ? { bytes: request.body, complete: true } : null;
    const answer = this.bench.picker.pick(head, bytes, { ...FACTS, subset: subsetOf(request) });
    if (answer instanceof Promise || answer.kind === 'deferred') throw new Error('not at once');
    if (answer.kind === 'pick') this.#running.push(answer.pickId);
    return answer;
  }
}

it('a dry run names whom the real decision names, and changes nothing', () => {
  const seen = { requests: 0, placed: 0, refused: 0, passed: 0, split: 0, policies: new Set<string>() };
  fc.assert(
    fc.property(options, rounds, (made, all) => {
      const house = new House(made);
      const { bench, dispatch } = house;
      const explainer = new Explainer({
        picker: bench.picker,
        fleet: bench.registry,
        pins: bench.pins,
        clock: () => bench.now,
      });
      try {
        for (const { changes, asked: request } of all) {
          for (const step of changes) house.take(step);
          const before = house.seen();
          const { explanation } = explainer.explain(request);
          expect(house.seen()).toEqual(before);
          expect(explainer.explain(request).explanation).toEqual(explanation);

          const prefills = dispatch.starts.length;
          const answer = house.ask(request);
          seen.requests += 1;
          if (answer.kind === 'pick') {
            expect(explanation.result).toBe('placed');
            expect(explanation.destination).toBe(answer.destination);
            expect(explanation.strict).toBe(answer.strict);
            const prefill = explanation.legs.find(({ leg }) => leg === 'prefill');
            const started = dispatch.starts[prefills]?.order.prefill.id ?? null;
            if (started !== null) expect(prefill?.worker_id).toBe(started);
            for (const { policy: name } of explanation.legs) seen.policies.add(name);
            if (started !== null) seen.split += 1;
            seen.placed += 1;
          } else if (answer.kind === 'refusal') {
            const { status, code, message } = answer;
            expect(explanation.result).toBe('refused');
            expect(explanation.refusal).toMatchObject({ status, code, message });
            seen.refused += 1;
          } else {
            expect(explanation.result).toBe('passed');
            seen.passed += 1;
          }
          expect(bench.failures).toEqual([]);
        }
      } finally {
        bench.registry.close();
      }
    }),
    { numRuns: 250 },
  );

  expect(seen.requests).toBeGreaterThan(1000);
  expect(seen.placed).toBeGreaterThan(500);
  expect(seen.refused).toBeGreaterThan(50);
  expect(seen.split).toBeGreaterThan(50);
  expect([...seen.policies].sort()).toEqual([...POLICY_NAMES].sort());
});
