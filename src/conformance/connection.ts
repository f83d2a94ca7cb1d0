import { Exchange } from './exchange.ts';
import { Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';
import type { ProcessStream } from './process-stream.ts';

/** A health answer: the gRPC status of the call, and the serving status when it is OK. */
export interface HealthAnswer {
  readonly code: number;
  /** Value of `ServingStatus`, null without an answer. */
  readonly serving: number | null;
}

/** A way to a picker that nobody else uses. */
export interface Connection {
  /** Rejects when the picker cannot be reached. */
  ready(): Promise<void>;
  /** Opens a stream, as Envoy does for one HTTP request. */
  open(): ProcessStream;
  /** One `grpc.health.v1.Health/Check`. */
  check(service: string): Promise<HealthAnswer>;
  /** First answer of `grpc.health.v1.Health/Watch`. */
  watch(service: string): Promise<HealthAnswer>;
  close(): void;
}

/** Plays one HTTP request on a stream of its own. */
export async function play(connection: Connection, plan: Plan): Promise<Outcome> {
  const stream = connection.open();
  const silent = await new Exchange(stream, plan).run();
  return new Outcome(plan, stream.entries, stream.end, silent);
}
