import type { BodyKeys } from './body-keys.ts';
import type { Prompt } from './prompt.ts';
import type { RequestHead } from './request-head.ts';

/** What routing knows of a request: its head, and what was found in its body, if the body was read. */
export interface RoutingRequest {
  readonly head: RequestHead;
  /**
   * The model it is for, an alias resolved; empty for none. Of a body that was not read, or whose beginning names none, the
   * model that all workers serve.
   */
  readonly model: string;
  /** The keys that its body may hold; null when none was read. */
  readonly bodyKeys: BodyKeys | null;
  readonly prompt: Prompt;
}
