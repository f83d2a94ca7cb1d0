/** What the service knows of the Envoys that ask it. */
export interface EnvoyFacts {
  /** Connections to the gRPC port that are open. */
  readonly connections: number;
  readonly openCalls: number;
  /** Streams on which Envoys tell the ends of requests. */
  readonly logStreams: number;
  readonly endpoints: EndpointFacts;
}

export interface EndpointFacts {
  /** Number of the latest list of workers; 0 before the first. */
  readonly version: number;
  /** Versions that Envoys accepted and refused since the start. */
  readonly acks: number;
  readonly nacks: number;
  /** What an Envoy said to the list that it refused last. */
  readonly lastNack: { readonly message: string; readonly version: string } | null;
  /** Envoys that are subscribed now. */
  readonly clients: readonly EndpointClientFacts[];
}

export interface EndpointClientFacts {
  /** `node.id`, empty when unknown. */
  readonly node: string;
  /** Version it accepted last, empty before the first. */
  readonly version: string;
  /** True when that is the latest there is. */
  readonly current: boolean;
}
