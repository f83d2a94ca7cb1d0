import { available, later } from '../setting.ts';
import { bool, choice, int, list, optional, port, TIMER_SECS, text } from '../setting-types.ts';
import { type ApiKey, apiKey, filePath, host, httpUrl } from '../text-types.ts';

const PORTS = { group: 'Ports and security', reload: 'restart' } as const;
const OPERATION = { group: 'Operation', reload: 'restart' } as const;

/** Where the service listens, who may change it, and what it tells (interface 3 and 5, decisions 17). */
export const OPERATION_SETTINGS = {
  grpcHost: available({ type: host(), default: '127.0.0.1', help: 'address that Envoy calls', ...PORTS }),
  grpcPort: available({ type: port(), default: 9002, help: 'port that Envoy calls; 0: any free one', ...PORTS }),
  grpcSocket: available({
    type: optional(filePath()),
    default: null,
    help: 'Unix socket that Envoy calls, instead of the port',
    ...PORTS,
  }),
  adminHost: available({ type: host(), default: '127.0.0.1', help: 'address of the admin API', ...PORTS }),
  adminPort: available({ type: port(), default: 9003, help: 'port of the admin API; 0: any free one', ...PORTS }),
  adminInsecure: available({
    type: bool(),
    default: false,
    help: 'allow an admin API without keys off loopback',
    ...PORTS,
  }),
  controlPlaneApiKeys: available({
    type: list(apiKey(), {
      some: true,
      whole: (keys) =>
        new Set(keys.map((key: ApiKey) => key.id)).size < keys.length ? 'two keys have the same id' : null,
    }),
    default: [],
    help: 'bearer keys of the admin API; role admin may change things, user may look',
    mask: () => '***',
    ...PORTS,
  }),
  prometheusHost: available({ type: host(), default: '127.0.0.1', help: 'address of the metrics port', ...PORTS }),
  prometheusPort: available({
    type: optional(port()),
    default: null,
    help: 'port for metrics alone; unset: on the admin API only',
    ...PORTS,
  }),
  tlsCertPath: available({
    type: optional(filePath()),
    default: null,
    help: 'certificate of the gRPC port and its chain, PEM; read again when it changes',
    ...PORTS,
  }),
  tlsKeyPath: available({ type: optional(filePath()), default: null, help: 'its private key, PEM', ...PORTS }),
  tlsClientCaPath: available({
    type: optional(filePath()),
    default: null,
    help: 'require client certificates of these authorities on the gRPC port, PEM',
    ...PORTS,
  }),
  jwtIssuer: later({ type: optional(httpUrl()), default: null, help: 'issuer of admin tokens', ...PORTS }),
  jwtAudience: later({
    type: optional(text('a name', (value) => value !== '', 'name')),
    default: null,
    help: 'audience of admin tokens',
    ...PORTS,
  }),
  jwtJwksUri: later({ type: optional(httpUrl()), default: null, help: 'where the keys of the issuer are', ...PORTS }),
  jwtRoleMapping: later({
    type: list(text('role=admin or role=user', (value) => /^[^=\s]+=(admin|user)$/.test(value), 'role=role')),
    default: [],
    help: 'roles of the issuer as roles here',
    ...PORTS,
  }),

  config: available({
    type: optional(filePath()),
    default: null,
    help: 'YAML file with settings and workers; read again when it changes and on SIGHUP',
    ...OPERATION,
  }),
  transport: available({
    type: choice(['http2', 'grpc-js']),
    default: 'http2' as 'http2' | 'grpc-js',
    help: 'gRPC server implementation: our own HTTP/2, or @grpc/grpc-js',
    ...OPERATION,
  }),
  logLevel: available({
    type: choice(['debug', 'info', 'warn', 'error']),
    default: 'info' as 'debug' | 'info' | 'warn' | 'error',
    help: 'least level that is logged',
    ...OPERATION,
    reload: 'live',
  }),
  logJson: available({ type: bool(), default: false, help: 'log JSON lines', ...OPERATION }),
  decisionRing: available({
    type: choice(['auto', 'on', 'off']),
    default: 'auto' as 'auto' | 'on' | 'off',
    help: 'keep the latest decisions for GET /decisions and the dashboard: while somebody looks, always, or never',
    ...OPERATION,
    reload: 'live',
  }),
  enableTrace: later({ type: bool(), default: false, help: 'send traces', ...OPERATION }),
  otlpTracesEndpoint: later({
    type: text('HOST:PORT or an http:// or https:// URL', isEndpoint, 'host:port'),
    default: 'localhost:4317',
    help: 'where traces go',
    ...OPERATION,
    // Without --enable-trace, which is refused, the address alone sends nothing.
    inert: () => true,
  }),
  shutdownGracePeriodSecs: available({
    type: int({ max: TIMER_SECS, unit: 'secs' }),
    default: 180,
    help: 'longest wait for running requests at the end, in seconds',
    ...OPERATION,
  }),
} as const;

function isEndpoint(value: string): boolean {
  if (/^https?:\/\//.test(value)) return URL.canParse(value);
  const port = /^[^\s/]+:(\d{1,5})$/.exec(value)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}
