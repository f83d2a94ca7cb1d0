import type { Worker } from './worker.ts';
import type { WorkerType } from './worker-kinds.ts';

/** Stands for the model of requests that name none, and of workers that list none (policies 0.2, 2.4). */
export const NO_MODEL = 'unknown';

/** What a model is called in metrics, pins and answers; empty for none. */
export function modelLabel(model: string): string {
  return model === '' ? NO_MODEL : model;
}

/** The workers that one model may use, in registration order. Immutable; kept between snapshots while it is unchanged. */
export interface Pool {
  /** Canonical model id, `NO_MODEL` for requests that name none. */
  readonly model: string;
  /** Every registered worker of the model, whatever its status. */
  readonly members: readonly Worker[];
  /** Ids of `members`. The same array object as long as membership is the same, so it can key a cache (hash rings). */
  readonly memberIds: readonly string[];
  /** The placeable members (`Worker.placeable`), in the same order. */
  readonly available: readonly Worker[];
}

/** The fleet at one moment. Replaced whole on every change; readers keep the one they started with. */
export interface WorkerSnapshot {
  /** Grows by one with each change. */
  readonly version: number;
  /** Requests are split between prefill and decode workers. */
  readonly disaggregated: boolean;
  /** All workers in registration order. */
  readonly workers: readonly Worker[];
  /**
   * True for a worker of a type that takes requests: prefill and decode under disaggregation, else regular. gRPC requests
   * are not split.
   */
  serves(worker: Worker): boolean;
  byId(id: string): Worker | undefined;
  /**
   * The worker at `ip:port`; the first registered one where several share an address.
   *
   * @param rank the data-parallel rank that is meant, where there is a worker for it
   */
  byAddress(address: string, rank?: number | null): Worker | undefined;
  /**
   * Pool of a model (empty string: the request names none → every worker) among the workers of a type, by default the
   * regular ones. Undefined when none of them knows the model.
   */
  pool(model: string, type?: WorkerType): Pool | undefined;
  /** Model ids that at least one ready worker lists, in order of first appearance. Of those that `serves` is true for, as all below. */
  readonly models: readonly string[];
  /** True when the model of a request cannot change its pool: every worker lists the same models, or none at all. */
  readonly uniform: boolean;
  /** True when some worker is a data-parallel rank. */
  readonly ranked: boolean;
  /** True when every engine has that data-parallel rank. */
  hasEverywhere(rank: number): boolean;
  /** The model that every worker lists and no other; empty when there is none such. */
  readonly soleModel: string;
  /**
   * The part of the fleet that serves gRPC requests and nothing else, whose workers stand in no pool of the whole; null when
   * there is none, and gRPC requests go where all others go (decisions 45).
   */
  readonly grpc: WorkerSnapshot | null;
}
