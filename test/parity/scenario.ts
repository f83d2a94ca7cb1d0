import type { SmgVersion } from '../support/smg-release.ts';
import type { EngineReport } from './engine.ts';
import type { EnginesOptions } from './engines.ts';

/** Two sides under the same flags in front of the same engines. Scenarios with equal stands share one. */
export interface StandOptions {
  /** As smg-envoy spells them; both sides get them. */
  readonly flags: readonly string[];
  readonly engines?: EnginesOptions;
  /** 1.11.0 when unset. */
  readonly smg?: SmgVersion;
  /** Flags that only our side has. */
  readonly ours?: readonly string[];
}

/**
 * How the choice of a worker is compared. `exact`: the same worker. `stays`: the same answer to the question whether it is
 * the worker of the group's request before. `free`: by chance; only whether a worker answered, and how many were tried.
 */
export type Choice = 'exact' | 'stays' | 'free';

export interface Request {
  /** `/v1/chat/completions` when unset. */
  readonly path?: string;
  /** The prompt, `hello` when unset. */
  readonly text?: string;
  /** `m` when unset, none when null. */
  readonly model?: string | null;
  readonly rid?: unknown;
  /** `x-smg-routing-key`. */
  readonly key?: string;
  /** `x-smg-routing-tokens`. */
  readonly hint?: string;
  /** `x-smg-target-worker`. */
  readonly target?: string;
  /** Name, value, name, value …; bytes above 7F as latin1. */
  readonly headers?: readonly string[];
  /** Members of the body besides those above. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The whole body, instead of one made from the members above. */
  readonly raw?: string;
  /** Answers to requests of one group are compared with each other by `stays`; the key or rid when unset. */
  readonly group?: string;
  /** That of the scenario when unset. */
  readonly choice?: Choice;
}

export type Step =
  | { readonly kind: 'send'; readonly request: Request }
  /** All at once; the workers are compared as a multiset under `exact`. */
  | { readonly kind: 'together'; readonly requests: readonly Request[] }
  /** Reaches an engine and waits there for its release. */
  | { readonly kind: 'hold'; readonly name: string; readonly request: Request }
  | { readonly kind: 'release'; readonly name: string }
  /** Sends `count` requests; the workers are compared as distributions. */
  | { readonly kind: 'spread'; readonly count: number; readonly make: (index: number) => Request }
  /** The gauges of requests and keys in flight. */
  | { readonly kind: 'gauges' }
  /** Engines from now on answer requests with a status; null heals them. */
  | { readonly kind: 'fail'; readonly engines: readonly number[]; readonly status: number | null }
  /** Sets which engines pass their health check, and waits until both sides know. */
  | { readonly kind: 'healthy'; readonly engines: readonly number[] }
  /** Sets what engines tell of their load, waits until both sides know, and keeps it so. */
  | { readonly kind: 'loads'; readonly reports: Readonly<Record<number, EngineReport>> }
  /** Waits until a gauge has a value on both sides; a label `engine` stands for the worker of that index. */
  | {
      readonly kind: 'until';
      readonly metric: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly value: number;
      /** Only ours is asked: where SMG changes with the next request alone, and ours later than SMG would. */
      readonly oursOnly: boolean;
    };

export interface Scenario {
  /** Section of the specification, and what is shown. */
  readonly title: string;
  readonly stand: StandOptions;
  /** `exact` when unset. */
  readonly choice?: Choice;
  readonly steps: readonly Step[];
}

export const send = (request: Request = {}): Step => ({ kind: 'send', request });
export const together = (...requests: Request[]): Step => ({ kind: 'together', requests });
export const hold = (name: string, request: Request = {}): Step => ({ kind: 'hold', name, request });
export const release = (...names: string[]): Step[] => names.map((name) => ({ kind: 'release', name }));
export const spread = (count: number, make: (index: number) => Request = () => ({})): Step => ({
  kind: 'spread',
  count,
  make,
});
export const gauges: Step = { kind: 'gauges' };
export const fail = (status: number | null, ...engines: number[]): Step => ({ kind: 'fail', engines, status });
export const healthy = (...engines: number[]): Step => ({ kind: 'healthy', engines });
export const loads = (...reports: EngineReport[]): Step => ({ kind: 'loads', reports });
export const until = (
  metric: string,
  labels: Readonly<Record<string, string>>,
  value: number,
  oursOnly = false,
): Step => ({ kind: 'until', metric, labels, value, oursOnly });
