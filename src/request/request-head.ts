/**
 * What a decision may read of a request before its body: the pseudo headers and the header list as Envoy delivers them.
 *
 * The adapter of each protocol implements it over its own message, so that no header is copied or decoded before a
 * reader asks for it.
 */
export interface RequestHead {
  /** `:method`, as sent. */
  readonly method: string;
  /** `:path` with its query, as sent; empty for CONNECT without a path. */
  readonly path: string;
  /** True when no body will follow (`end_of_stream` of the header message). */
  readonly endOfStream: boolean;
  /**
   * Raw bytes of the first header of that name, undefined when there is none. Later values of a repeated header are
   * never consulted (sticky-sessions 1.1).
   *
   * @param name lower-case header name
   */
  first(name: string): Uint8Array | undefined;
}
