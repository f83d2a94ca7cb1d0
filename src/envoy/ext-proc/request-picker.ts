import type { Answer, BodyBytes, BodyPlan, StreamFacts } from '../../picker/answer.ts';
import type { RequestHead } from '../../request/request-head.ts';

/** What a stream asks of the service behind it. */
export interface RequestPicker {
  /**
   * Whether the request must be read beyond its head. Asked once for every head that arrives. A head that settles the
   * answer by itself, also as a refusal, needs no body.
   */
  plan(head: RequestHead): BodyPlan;
  /** Decides. `body` is null when the head has to do. A throw or rejection counts as a pass. */
  pick(head: RequestHead, body: BodyBytes | null, facts: StreamFacts): Answer | Promise<Answer>;
  /** The answer never reached Envoy: nothing was dispatched. */
  abandon(pickId: string): void;
  /** A stream that Envoy keeps open until the response has ended is over (envoy 3.2). Not the only sign of the end. */
  streamEnded(pickId: string): void;
  /**
   * The response to a pick passes by, on a stream of an Envoy that promises no access log.
   *
   * @param address `ip:port` of the worker that was asked last
   * @param codeDetails Envoy's `response_code_details`, null where it does not send them
   */
  answered(pickId: string, address: string, status: number, codeDetails: string | null): void;
  /**
   * Value of `x-smg-routed-worker-id` for the worker at `ip:port`, null when it gets none.
   *
   * @param rank data-parallel rank that the body named, null for none
   */
  stamp(servedAddress: string, rank: number | null): string | null;
}
