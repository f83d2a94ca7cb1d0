import type { Prompt } from './prompt.ts';
import type { RequestHead } from './request-head.ts';

/** What routing knows of a request: its head, and what was found in its body, if the body was read. */
export interface RoutingRequest {
  readonly head: RequestHead;
  /** Model the request names, alias not yet resolved; empty when it names none or its body was not read. */
  readonly model: string;
  /** Sticky key from the body `rid`, stripped and within its cap (sticky-sessions 2.1–2.3); null when there is none. */
  readonly ridKey: string | null;
  readonly prompt: Prompt;
}
