import type { BootstrapOptions } from '../bootstrap/options.ts';

/** Kinds of Kubernetes manifests that can be printed (interface 8). */
export const GATEWAY_MODES = ['istio', 'envoy-gateway', 'gateway-api'] as const;
export type GatewayMode = (typeof GATEWAY_MODES)[number];

/** An object of the cluster. */
export interface Reference {
  readonly namespace: string;
  readonly name: string;
}

/** A port of a Service. */
export interface ServicePort extends Reference {
  readonly port: number;
}

export type Labels = Readonly<Record<string, string>>;

/** Where the service finds its workers among pods; null for other sources of workers. */
export interface PodDiscovery {
  /** Namespace of the pods; null for all. */
  readonly namespace: string | null;
  /** Labels of the pods that requests go to: of the decode pods, where prefill and decode are apart. */
  readonly labels: Labels;
  readonly port: number;
}

/** The service as a Deployment. */
export interface WorkloadOptions {
  readonly namespace: string;
  readonly image: string;
  /** The service's config file, by its keys. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly pods: PodDiscovery | null;
  readonly shutdownGraceSecs: number;
}

/** Everything that shapes the manifests for a gateway. */
export interface GatewayOptions {
  readonly mode: GatewayMode;
  readonly workload: WorkloadOptions;
  /** What the gateway's Envoys shall do. Listener, addresses of replicas and static workers of it are not used. */
  readonly envoy: BootstrapOptions;
  /** Where requests come in. */
  readonly gateway: Reference;
  /** Labels of the gateway's pods, for Istio. */
  readonly gatewayPods: Labels;
  /** The Service that has the workers as its endpoints; for InferencePools the pods themselves count instead. */
  readonly workers: ServicePort;
}
