import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../gen/grpc/health/v1/health.ts';
import { type Call, type CallHandler, GrpcStatus, type Method } from '../../transport/transport.ts';

/** Alive as long as it answers at all. */
const LIVENESS = 'liveness';

/** Names whose state is whether requests are welcome (interface 5). */
const SERVING_NAMES: ReadonlySet<string> = new Set([
  '',
  'readiness',
  'envoy.service.ext_proc.v3.ExternalProcessor',
  'envoy.service.auth.v3.Authorization',
]);

/** `grpc.health.v1.Health` (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). */
export class HealthService {
  readonly methods: readonly Method[];
  readonly #watches = new Map<Call, string>();
  #serving: boolean;

  /** @param serving whether requests are welcome from the start */
  constructor(serving: boolean) {
    this.#serving = serving;
    this.methods = [
      { path: '/grpc.health.v1.Health/Check', open: (call) => this.#check(call) },
      { path: '/grpc.health.v1.Health/Watch', open: (call) => this.#watch(call) },
    ];
  }

  get serving(): boolean {
    return this.#serving;
  }

  /** Tells everyone who watches. A drain begins with `false`: Envoys then go elsewhere, while open calls run on. */
  setServing(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const [call, name] of this.#watches) {
      if (SERVING_NAMES.has(name)) call.send(encode(this.#statusOf(name)));
    }
  }

  /** Ends the watches. */
  close(): void {
    for (const call of this.#watches.keys()) call.end();
  }

  #check(call: Call): CallHandler {
    return handler(call, (name) => {
      const status = this.#statusOf(name);
      if (status === ServingStatus.SERVICE_UNKNOWN) {
        call.end(GrpcStatus.notFound, 'unknown service');
        return;
      }
      call.send(encode(status));
      call.end();
    });
  }

  #watch(call: Call): CallHandler {
    return {
      ...handler(call, (name) => {
        this.#watches.set(call, name);
        call.send(encode(this.#statusOf(name)));
      }),
      // The request is the client's only message; it listens from then on.
      halfClosed: () => {
        if (!this.#watches.has(call)) call.end(GrpcStatus.invalidArgument, 'no request');
      },
      closed: () => {
        this.#watches.delete(call);
      },
    };
  }

  #statusOf(name: string): ServingStatus {
    if (name === LIVENESS) return ServingStatus.SERVING;
    if (!SERVING_NAMES.has(name)) return ServingStatus.SERVICE_UNKNOWN;
    return this.#serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }
}

function handler(call: Call, ask: (name: string) => void): CallHandler {
  return {
    message: (bytes) => {
      let name: string;
      try {
        name = HealthCheckRequest.decode(bytes).service ?? '';
      } catch {
        call.end(GrpcStatus.invalidArgument, 'not a HealthCheckRequest');
        return;
      }
      ask(name);
    },
    halfClosed: () => call.end(GrpcStatus.invalidArgument, 'no request'),
    closed: () => {},
  };
}

function encode(status: ServingStatus): Uint8Array {
  return HealthCheckResponse.encode({ status }).finish();
}
