import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { failed, HANDOFF, house, type PairHouse, Prefill } from '../../test/support/pair-bench.ts';
import { FACTS, type PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { Answer, FinalAnswer } from './answer.ts';

/** What may happen to requests and workers. `who`: a request by its number, modulo how many there are. */
type Step =
  | { readonly do: 'ask'; readonly key: string }
  | { readonly do: 'over' | 'begin' | 'ended' | 'cancel' | 'end' | 'stream' | 'abandon'; readonly who: number }
  | { readonly do: 'fail'; readonly who: number; readonly status: number; readonly ended: boolean }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'down' | 'up'; readonly worker: number }
  | { readonly do: 'dispatch'; readonly how: 'run' | 'throw' | 'sidecar' | 'alone' | 'refuse' };

const who = fc.nat(5);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), key: fc.constantFrom('a', 'b', '') }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['over', 'begin', 'ended', 'cancel', 'end', 'stream', 'abandon'] as const)),
      who,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      who,
      status: fc.constantFrom(400, 429, 500, 502, 503),
      ended: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 5, 10, 70_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('down' as const, 'up' as const),
      worker: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('dispatch' as const),
      how: fc.constantFrom(...(['run', 'run', 'run', 'throw', 'sidecar', 'alone', 'refuse'] as const)),
    }),
  },
);
/** `settles`: the event loop turns before the next step. */
const stories = fc.record({
  shared: fc.boolean(),
  story: fc.array(fc.record({ step: steps, settles: fc.oneof(fc.constant(true), fc.boolean()) }), { maxLength: 40 }),
});

/** One request as its stream sees it. */
class Request {
  readonly head: RequestHead = headOf({ method: 'POST', path: '/v1/chat/completions' });
  /** Null while the pin store is asked. */
  answer: Answer | null = null;
  /** Every answer that came: there must be one. */
  readonly finals: FinalAnswer[] = [];
  /** Envoy or the client is through with it. */
  over = false;
  /** Its decode was served: its prefill is left to end by itself. */
  served = false;

  take(answer: Answer): void {
    this.answer = answer;
    if (answer.kind !== 'deferred') this.finals.push(answer);
    else void answer.answer.then((final) => this.finals.push(final));
  }

  get pickId(): string | null {
    const [final] = this.finals;
    return final?.kind === 'pick' ? final.pickId : null;
  }

  get waits(): boolean {
    return this.answer?.kind === 'deferred' && this.finals.length === 0 && !this.over;
  }
}

/** Runs a story, and knows what has to be counted at each moment. */
class Model {
  readonly requests: Request[] = [];
  readonly #house: PairHouse;

  constructor(made: PairHouse) {
    this.#house = made;
  }

  runsOf({ head }: Request): readonly Prefill[] {
    return this.#house.dispatch.prefills.filter(({ order }) => order.head === head);
  }

  async take(step: Step): Promise<void> {
    const { bench, dispatch } = this.#house;
    switch (step.do) {
      case 'ask':
        await this.#ask(step.key);
        break;
      case 'wait':
        bench.now += step.ms;
        vi.advanceTimersByTime(step.ms);
        break;
      case 'down':
        bench.down(step.worker);
        break;
      case 'up':
        bench.up(step.worker);
        break;
      case 'dispatch':
        dispatch.breaks = step.how === 'throw';
        dispatch.atOnce = AT_ONCE[step.how] ?? null;
        break;
      default: {
        const request = this.requests[step.who % this.requests.length];
        if (request !== undefined) this.#happens(request, step);
      }
    }
  }

  async #ask(rid: string): Promise<void> {
    const { bench } = this.#house;
    const request = new Request();
    this.requests.push(request);
    const bytes = Buffer.from(JSON.stringify(rid === '' ? {} : { rid }));
    request.take(await bench.picker.pick(request.head, { bytes, complete: true }, FACTS));
  }

  #happens(request: Request, step: Extract<Step, { who: number }>): void {
    const { bench } = this.#house;
    const run = this.runsOf(request).at(-1);
    const { answer, pickId } = request;
    switch (step.do) {
      case 'over':
        run?.finish('success');
        run?.offer(HANDOFF);
        break;
      case 'begin':
        run?.offer(HANDOFF);
        break;
      case 'ended':
        // A prefill beside its decode; one that is waited for tells what came of it, too.
        if (run !== undefined && run.given !== null) run.finish('failure');
        break;
      case 'fail':
        if (step.ended) run?.finish('failure');
        run?.offer(failed(step.status));
        break;
      case 'cancel':
        if (!request.waits || answer?.kind !== 'deferred') break;
        request.over = true;
        answer.cancel();
        break;
      case 'end':
      case 'stream':
      case 'abandon':
        if (pickId === null || request.over) break;
        request.over = true;
        request.served = step.do === 'end';
        if (step.do === 'end') bench.end(pickId, 3);
        else if (step.do === 'stream') bench.feedback.streamEnded(pickId);
        else bench.picker.abandon(pickId);
    }
  }

  /** Units that a request has in flight: one on its decode worker, one on its prefill worker until that is through. */
  #unitsOf(request: Request): number {
    if (!request.waits && (request.over || request.pickId === null)) return 0;
    const made = this.#house.dispatch.starts.findLast(({ order }) => order.head === request.head)?.made;
    if (made === undefined) return 0;
    if (!(made instanceof Prefill)) return made.kind === 'handoff' && made.leftTo === 'sidecar' ? 2 : 1;
    // Between two tries there is nobody that works on it.
    if (made.given?.kind === 'failed') return 0;
    return made.ended ? 1 : 2;
  }

  check(): void {
    const { bench, dispatch } = this.#house;
    const units = this.requests.reduce((sum, request) => sum + this.#unitsOf(request), 0);
    expect(bench.ledger.inFlight).toBe(units);
    expect(bench.registry.current.workers.reduce((sum, { load }) => sum + load.requests, 0)).toBe(units);
    for (const request of this.requests) {
      expect(request.finals.length).toBe(request.waits ? 0 : 1);
      const live = this.runsOf(request).filter(({ ended }) => !ended);
      expect(live.length).toBeLessThanOrEqual(this.#unitsOf(request) > 0 || request.served ? 1 : 0);
    }
    expect(dispatch.prefills.filter(({ cancelled }) => cancelled > 1)).toEqual([]);
  }

  /** Every request ends, each in the way that its state allows. */
  async end(): Promise<void> {
    for (const [number, request] of this.requests.entries()) {
      if (request.waits) this.#happens(request, { do: 'cancel', who: number });
      else this.#happens(request, { do: number % 2 === 0 ? 'end' : 'stream', who: number });
    }
    await settle();
    for (const request of this.requests.filter(({ served }) => served)) {
      for (const run of this.runsOf(request)) if (!run.ended) run.finish('success');
      request.served = false;
    }
    await settle();
  }
}

const AT_ONCE = {
  run: null,
  throw: null,
  sidecar: { ...HANDOFF, leftTo: 'sidecar' },
  alone: { ...HANDOFF, body: null },
  refuse: failed(413),
} as const;

/** Enough turns for a retry that asks a shared store for both legs. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await tick();
}

function inTurns(local: PickerBench['local']): PickerBench['pins'] {
  return {
    get: (key, now) => local.get(key, now),
    peek: (key) => local.peek(key),
    touch: (key, now) => local.touch(key, now),
    put: async (key, candidates, version, now) => {
      await tick();
      return local.put(key, candidates, version, now);
    },
  } as PickerBench['pins'];
}

describe('policies 2.5, decisions 27: a request for two workers, whatever happens to it', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('has one answer, counts while somebody works on it, and leaves no prefill, count or timer behind', async () => {
    const rejected: unknown[] = [];
    const note = (error: unknown) => void rejected.push(error);
    process.on('unhandledRejection', note);
    await fc.assert(
      fc.asyncProperty(stories, async ({ shared, story }) => {
        const retry = { mostTries: 3, initialMs: 5, maxMs: 10, multiplier: 2, jitter: 0 };
        const made = house({
          keys: { override: true },
          config: { prefillRetry: retry },
          ...(shared ? { pins: inTurns } : {}),
        });
        const model = new Model(made);
        for (const { step, settles } of story) {
          await model.take(step);
          if (!settles) continue;
          await settle();
          model.check();
        }
        await settle();
        await model.end();
        model.check();
        expect([made.loads(), made.bench.ledger.inFlight]).toEqual(['0000', 0]);
        expect(made.dispatch.prefills.filter(({ ended }) => !ended)).toEqual([]);
        for (const n of [1, 2, 3, 4]) expect(made.bench.worker(n).load.distinctKeys, urlOf(n)).toBe(0);
        made.bench.registry.close();
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 200 },
    );
    process.off('unhandledRejection', note);
    expect(rejected).toEqual([]);
  });
});
