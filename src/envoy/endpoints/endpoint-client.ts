import { DiscoveryRequest, DiscoveryResponse } from '../../gen/envoy/service/discovery/v3/discovery.ts';
import { type Call, type CallHandler, GrpcStatus } from '../../transport/transport.ts';
import { nameAssignment } from './fleet-endpoints.ts';
import { type FleetVersion, stepTowards } from './fleet-version.ts';

export const ENDPOINT_TYPE_URL = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';

/** A version that Envoy refused; the one before stays in force there. */
export interface Nack {
  /** `node.id` of the Envoy, empty when it did not say. */
  readonly node: string;
  readonly version: string;
  /** Envoy's own words. */
  readonly message: string;
}

/** What a stream needs of the service it belongs to. */
export interface ClientHome {
  /** The latest version; null before the first. */
  current(): FleetVersion | null;
  accepted(): void;
  refused(nack: Nack): void;
  /** A request for resources that this service does not have. */
  ignored(): void;
  closed(client: EndpointClient): void;
}

/**
 * One stream of the state-of-the-world xDS protocol, seen from the server
 * (https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol). One response is outstanding at a time; what
 * changes meanwhile goes out together once Envoy has answered.
 */
export class EndpointClient implements CallHandler {
  readonly #call: Call;
  readonly #home: ClientHome;
  /** Type of a request that names none: a stream of one type only may leave it out. */
  readonly #impliedTypeUrl: string;
  #node = '';
  #names: readonly string[] = [];
  #namesChanged = false;
  #nonce = 0;
  #sent: FleetVersion | null = null;
  #awaitingAnswer = false;
  #accepted: FleetVersion | null = null;
  /** Number of the version that was refused last: sending it again would be refused again. */
  #refusedNumber = -1;

  constructor(call: Call, home: ClientHome, impliedTypeUrl: string) {
    this.#call = call;
    this.#home = home;
    this.#impliedTypeUrl = impliedTypeUrl;
  }

  /** `node.id`, empty while unknown. */
  get node(): string {
    return this.#node;
  }

  /** True while it wants endpoints. */
  get subscribed(): boolean {
    return this.#names.length > 0;
  }

  /** Version it last accepted. */
  get accepted(): FleetVersion | null {
    return this.#accepted;
  }

  /** True when the endpoint is in force there: accepted, and in no way about to leave. */
  holds(address: string): boolean {
    const isAccepted = this.#accepted?.endpoints.has(address) ?? false;
    return isAccepted && (!this.#awaitingAnswer || this.#sent?.endpoints.has(address) === true);
  }

  message(bytes: Buffer): void {
    let request: DiscoveryRequest;
    try {
      request = DiscoveryRequest.decode(bytes);
    } catch {
      this.#call.end(GrpcStatus.invalidArgument, 'not a DiscoveryRequest');
      return;
    }
    this.#node ||= request.node?.id ?? '';
    if ((request.typeUrl || this.#impliedTypeUrl) === ENDPOINT_TYPE_URL) this.#take(request);
    else this.#home.ignored();
  }

  halfClosed(): void {
    this.#call.end();
  }

  closed(): void {
    this.#home.closed(this);
  }

  end(): void {
    this.#call.end();
  }

  /** Sends what is new, unless an answer is still due. */
  advance(): void {
    const target = this.#home.current();
    if (target === null || !this.subscribed || this.#awaitingAnswer) return;
    if (target.number === this.#refusedNumber) return;
    if (target === this.#sent && !this.#namesChanged) return;
    this.#send(stepTowards(target, this.#accepted));
  }

  #take(request: DiscoveryRequest): void {
    // Nonces belong to a stream: one that comes before our first response is left over from an earlier stream.
    const isAnswer = this.#nonce > 0 && request.responseNonce !== undefined && request.responseNonce !== '';
    // An answer to an older response than the latest is out of date as a whole; the one to the latest repeats it all.
    if (isAnswer && request.responseNonce !== String(this.#nonce)) return;
    if (isAnswer && this.#awaitingAnswer) this.#settle(request);
    this.#subscribe(request.resourceNames ?? []);
    this.advance();
  }

  #settle(request: DiscoveryRequest): void {
    this.#awaitingAnswer = false;
    if (this.#sent === null) return;
    if (request.errorDetail === undefined) {
      this.#accepted = this.#sent;
      this.#home.accepted();
      return;
    }
    this.#refusedNumber = this.#sent.number;
    this.#home.refused({
      node: this.#node,
      version: this.#sent.text,
      message: request.errorDetail.message ?? '',
    });
  }

  #subscribe(names: readonly string[]): void {
    if (names.length === this.#names.length && names.every((name, at) => name === this.#names[at])) return;
    this.#names = names;
    this.#namesChanged = true;
    this.#refusedNumber = -1;
  }

  #send(version: FleetVersion): void {
    this.#nonce += 1;
    this.#sent = version;
    this.#namesChanged = false;
    this.#awaitingAnswer = true;
    const response = DiscoveryResponse.encode({
      versionInfo: version.text,
      typeUrl: ENDPOINT_TYPE_URL,
      nonce: String(this.#nonce),
      resources: this.#names.map((name) => ({
        typeUrl: ENDPOINT_TYPE_URL,
        value: nameAssignment(name, version.encoded),
      })),
    });
    this.#call.send(response.finish());
  }
}
