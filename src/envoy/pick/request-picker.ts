import type { Answer, BodyBytes, BodyPlan, StreamFacts } from '../../picker/answer.ts';
import type { RequestHead } from '../../request/request-head.ts';

/** What every protocol by which Envoy asks for a pick wants of the service behind it. */
export interface RequestPicker {
  /**
   * Whether the request must be read beyond its head. Asked once for every head that arrives. A head that settles the
   * answer by itself, also as a refusal, needs no body.
   */
  plan(head: RequestHead): BodyPlan;
  /** Decides. `body` is null when the head has to do. A throw or rejection counts as a pass. */
  pick(head: RequestHead, body: BodyBytes | null, facts: StreamFacts): Answer | Promise<Answer>;
  /** An id for the pick that is made later, with which it is asked for. */
  reservePickId(): string;
  /** The answer never reached Envoy: nothing was dispatched. */
  abandon(pickId: string): void;
  /**
   * Value of `x-smg-routed-worker-id` for the worker at `ip:port`, null when it gets none.
   *
   * @param rank data-parallel rank that the body named, null for none
   */
  stamp(servedAddress: string, rank: number | null): string | null;
}
