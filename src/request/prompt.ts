/**
 * What placement may look at of a prompt. Each value is made when it is first asked for, so that a request whose pin
 * decides pays for none of them.
 */
export interface Prompt {
  /** Token ids of the hint header, else of `input_ids` (policies 6.3); null without any. Never empty. */
  readonly tokens: Uint32Array | null;
  /** Routing text of the endpoint (policies 6.1), without half surrogate pairs; null when there are tokens, or no body was read. */
  readonly text: string | null;
  /** Digest of cache salt, extra key and LoRA adapter as 16 lower-case hex digits (policies 1.6.9); null without any of them. */
  readonly namespace: string | null;
}

/** Of a request whose body was not read and that has no token hint. */
export const NO_PROMPT: Prompt = { tokens: null, text: null, namespace: null };
