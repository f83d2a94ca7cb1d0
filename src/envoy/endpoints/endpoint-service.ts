import type { Call, Method } from '../../transport/transport.ts';
import type { SnapshotSource } from '../../workers/snapshot-source.ts';
import { type ClientHome, ENDPOINT_TYPE_URL, EndpointClient, type Nack } from './endpoint-client.ts';
import { differenceOf, endpointsOf } from './fleet-endpoints.ts';
import { type FleetVersion, fleetVersion } from './fleet-version.ts';
import type { StampKind } from './worker-stamp.ts';

export interface EndpointServiceOptions {
  readonly source: SnapshotSource;
  /** `--routed-worker-id` */
  readonly stampKind: StampKind;
  /** Told of each refusal by an Envoy. */
  readonly onNack: (nack: Nack) => void;
}

/**
 * Longest wait of the first version for verdicts on the workers. An Envoy from before a restart would be told that all of
 * them are unhealthy (decisions 24).
 */
const FIRST_LOOK_MS = 1000;
/** Shortest pause between two versions that differ only in who is degraded: workers may waver, all of them at once. */
const STRAIN_PAUSE_MS = 1000;

/** One subscribed Envoy, for metrics and the admin API. */
export interface EndpointSubscriber {
  /** `node.id`, empty when unknown. */
  readonly node: string;
  /** Version it accepted last, empty before the first. */
  readonly version: string;
  /** True when that is the latest there is. */
  readonly current: boolean;
}

/**
 * The workers as Envoy endpoints, by EDS and by ADS, state of the world (envoy 8). Every cluster that is asked for gets
 * the whole fleet under its own name, but for the workers that serve gRPC alone: they are that of the cluster so named. The
 * cluster of the prefill workers has those alone.
 */
export class EndpointService {
  readonly methods: readonly Method[];
  readonly #options: EndpointServiceOptions;
  readonly #clients = new Set<EndpointClient>();
  readonly #unsubscribe: () => void;
  #current: FleetVersion | null = null;
  #scheduled: NodeJS.Immediate | null = null;
  #delayed: NodeJS.Timeout | null = null;
  #strainToldAt = Number.NEGATIVE_INFINITY;
  #firstLook: NodeJS.Timeout | null = null;
  #firstLookOver = false;
  #acks = 0;
  #nacks = 0;
  #otherRequests = 0;
  #lastNack: Nack | null = null;

  constructor(options: EndpointServiceOptions) {
    this.#options = options;
    this.methods = [
      {
        path: '/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints',
        open: (call) => this.#accept(call, ENDPOINT_TYPE_URL),
      },
      {
        path: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
        open: (call) => this.#accept(call, ''),
      },
    ];
    this.#unsubscribe = options.source.subscribe(() => this.#schedule());
    this.#publish();
  }

  /** Number of the latest version; 0 before the first. */
  get version(): number {
    return this.#current?.number ?? 0;
  }

  /** Envoys that are subscribed now. */
  get clients(): readonly EndpointSubscriber[] {
    return this.#subscribed().map((client) => ({
      node: client.node,
      version: client.accepted?.text ?? '',
      current: client.accepted !== null && client.accepted === this.#current,
    }));
  }

  /** Versions accepted and refused by Envoys since start. */
  get acks(): number {
    return this.#acks;
  }

  get nacks(): number {
    return this.#nacks;
  }

  /** Requests for resources of other types since start; they get no answer. */
  get otherRequests(): number {
    return this.#otherRequests;
  }

  /** The latest refusal; null when there was none. */
  get lastNack(): Nack | null {
    return this.#lastNack;
  }

  /**
   * True when every subscribed Envoy knows a worker at `ip:port`, so that a strict target may name it (decisions 25).
   * Also true when none is subscribed: those that then call have their endpoints from elsewhere.
   */
  acknowledged(address: string): boolean {
    for (const client of this.#clients) {
      if (client.subscribed && !client.holds(address)) return false;
    }
    return true;
  }

  /** Stops following the fleet and ends the streams; Envoys keep what they have. */
  close(): void {
    this.#unsubscribe();
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    if (this.#delayed !== null) clearTimeout(this.#delayed);
    if (this.#firstLook !== null) clearTimeout(this.#firstLook);
    for (const client of this.#clients) client.end();
  }

  #accept(call: Call, impliedTypeUrl: string): EndpointClient {
    const client = new EndpointClient(call, this.#home(), impliedTypeUrl);
    this.#clients.add(client);
    return client;
  }

  #home(): ClientHome {
    return {
      current: () => this.#current,
      accepted: () => {
        this.#acks += 1;
      },
      refused: (nack) => {
        this.#nacks += 1;
        this.#lastNack = nack;
        this.#options.onNack(nack);
      },
      ignored: () => {
        this.#otherRequests += 1;
      },
      closed: (client) => {
        this.#clients.delete(client);
      },
    };
  }

  #subscribed(): readonly EndpointClient[] {
    return [...this.#clients].filter((client) => client.subscribed);
  }

  /** Changes of one turn go out as one version. */
  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = null;
      this.#publish();
    });
  }

  #publish(): void {
    const endpoints = endpointsOf(this.#options.source.current, this.#options.stampKind);
    if (this.#current === null) {
      if (!this.#mayBegin(endpoints.size)) return;
    } else {
      const difference = differenceOf(this.#current.endpoints, endpoints);
      if (difference === 'none' || (difference === 'strain' && this.#delay())) return;
    }
    this.#current = fleetVersion(this.version + 1, endpoints);
    for (const client of this.#clients) client.advance();
  }

  /** True when the next version has to wait; it then comes by itself. */
  #delay(): boolean {
    const now = performance.now();
    const waitMs = this.#strainToldAt + STRAIN_PAUSE_MS - now;
    if (waitMs <= 0) {
      this.#strainToldAt = now;
      return false;
    }
    this.#delayed ??= setTimeout(() => {
      this.#delayed = null;
      this.#publish();
    }, waitMs);
    return true;
  }

  /**
   * The first list takes from an Envoy that still serves whatever is not in it, so it must be the truth (envoy 8.3,
   * decisions 24): all sources were read, their names resolve, and each worker had its first look, for which it waits a
   * while. It then comes by itself.
   */
  #mayBegin(endpoints: number): boolean {
    const { settled, current } = this.#options.source;
    if (!settled || (endpoints === 0 && current.workers.length > 0)) return false;
    if (this.#firstLookOver || !current.workers.some(({ status }) => status === 'pending')) return true;
    this.#firstLook ??= setTimeout(() => {
      this.#firstLookOver = true;
      this.#publish();
    }, FIRST_LOOK_MS);
    return false;
  }
}
