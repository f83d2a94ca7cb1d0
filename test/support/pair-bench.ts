import { setImmediate as tick } from 'node:timers/promises';
import type { Answer, DeferredAnswer, FinalAnswer, PickAnswer } from '../../src/picker/answer.ts';
import type {
  Handoff,
  PrefillDispatch,
  PrefillFailure,
  PrefillOrder,
  PrefillRun,
} from '../../src/picker/prefill-dispatch.ts';
import type { Outcome } from '../../src/workers/breaker.ts';
import { PickerBench, type PickerBenchOptions } from './picker-bench.ts';

export const HANDOFF: Handoff = { kind: 'handoff', body: Buffer.from('{"kv":1}'), leftTo: null };
export const failed = (status: number): PrefillFailure => ({
  kind: 'failed',
  status,
  code: 'prefill_upstream_error',
  message: 'of the engine',
});

/** A prefill under way, driven by hand. */
export class Prefill implements PrefillRun {
  readonly timeoutMs = 60_000;
  readonly order: PrefillOrder;
  cancelled = 0;
  /** What was given first; null while the request waits for it. */
  given: Handoff | PrefillFailure | null = null;
  /** Its worker has nothing more to do. */
  ended = false;
  readonly handoff: Promise<Handoff | PrefillFailure>;
  readonly done: Promise<Outcome | null>;
  #give!: (taken: Handoff | PrefillFailure) => void;
  #end!: (outcome: Outcome | null) => void;

  constructor(order: PrefillOrder) {
    this.order = order;
    this.handoff = new Promise((resolve) => {
      this.#give = (taken) => {
        this.given ??= taken;
        resolve(taken);
      };
    });
    this.done = new Promise((resolve) => {
      this.#end = (outcome) => {
        this.ended = true;
        resolve(outcome);
      };
    });
  }

  cancel(): void {
    this.cancelled += 1;
    this.#give(failed(502));
    this.#end(null);
  }

  offer(taken: Handoff | PrefillFailure): void {
    this.#give(taken);
  }

  finish(outcome: Outcome | null): void {
    this.#end(outcome);
  }

  async give(taken: Handoff | PrefillFailure): Promise<void> {
    this.offer(taken);
    await tick();
  }

  async end(outcome: Outcome | null): Promise<void> {
    this.finish(outcome);
    await tick();
  }

  /** The usual sequential prefill: over, then its decode begins. */
  async over(taken: Handoff | PrefillFailure, outcome: Outcome | null): Promise<void> {
    await this.end(outcome);
    await this.give(taken);
  }
}

export class Dispatch implements PrefillDispatch {
  readonly starts: { readonly order: PrefillOrder; readonly made: Handoff | PrefillFailure | Prefill }[] = [];
  /** What is given at once instead. */
  atOnce: Handoff | PrefillFailure | null = null;
  /** It has a bug. */
  breaks = false;

  start(order: PrefillOrder): Handoff | PrefillFailure | PrefillRun {
    if (this.breaks) throw new Error('bug');
    const made = this.atOnce ?? new Prefill(order);
    this.starts.push({ order, made });
    return made;
  }

  get orders(): readonly PrefillOrder[] {
    return this.starts.map(({ order }) => order);
  }

  get prefills(): readonly Prefill[] {
    return this.starts.flatMap(({ made }) => (made instanceof Prefill ? [made] : []));
  }

  get last(): Prefill {
    return this.prefills.at(-1)!;
  }
}

export type PairHouse = ReturnType<typeof house>;

/** Prefill workers 1 and 2, decode workers 3 and 4. */
export function house(options: PickerBenchOptions = {}, { pair = {} }: { pair?: object } = {}) {
  const dispatch = new Dispatch();
  const bench = new PickerBench({ ...options, pair: { dispatch, ...pair } });
  for (const n of [1, 2]) bench.add(n, { worker_type: 'prefill', runtime_type: 'vllm' });
  for (const n of [3, 4]) bench.add(n, { worker_type: 'decode', runtime_type: 'vllm' });
  bench.registry.markSettled();
  const loads = () => [1, 2, 3, 4].map((n) => bench.worker(n).load.requests).join('');
  return { bench, dispatch, loads };
}

export function deferred(answer: Answer | Promise<Answer>): DeferredAnswer {
  if (answer instanceof Promise || answer.kind !== 'deferred')
    throw new Error(`not deferred: ${JSON.stringify(answer)}`);
  return answer;
}

export function picked(answer: FinalAnswer): PickAnswer {
  if (answer.kind !== 'pick') throw new Error(`no pick: ${JSON.stringify(answer)}`);
  return answer;
}

export const at = (n: number) => `10.0.0.${n}:8000`;
