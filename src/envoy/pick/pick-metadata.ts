/** What a pick writes into dynamic metadata (envoy 6.6): namespace `envoy.lb`, and `picker` for all that is not routing. */
export interface PickMetadata {
  readonly destination: string;
  readonly strict: boolean;
  readonly pickId: string;
  /** Data-parallel rank that the body names, null for none. */
  readonly rank: number | null;
  /** Value of `x-smg-decision`, null for none. */
  readonly decision: string | null;
  /** `ip:port[,ip:port]` of the prefill worker that Envoy mirrors the request to; null for none. */
  readonly prefill: string | null;
}
