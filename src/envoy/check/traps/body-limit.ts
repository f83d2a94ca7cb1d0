import type { ConfigNode } from '../config-node.ts';
import type { Asker } from '../subject/asker.ts';
import { asksNobody, modeOf } from '../subject/asker.ts';
import type { HttpChain } from '../subject/http-chain.ts';
import { isFullDuplex } from '../subject/processing-mode.ts';
import type { Route } from '../subject/routes.ts';
import type { Trap } from '../trap.ts';
import { retryPolicyOf } from './askers.ts';

const MEBIBYTE = 1_048_576;
/** Stream window of HTTP/2 clients where none is set (envoy 4.4). */
const DEFAULT_WINDOW = 16 * MEBIBYTE;
/** What a message may be larger than the limit (envoy 13.2). */
const MARGIN = 2 * MEBIBYTE;

/** How much of a body the service sees and Envoy can send again (envoy 4.4). */
export const BODY_LIMIT_TRAPS: readonly Trap[] = [
  {
    id: 'T14',
    level: 'warning',
    title: 'Envoy keeps less of a body than --envoy-body-limit',
    consequence: 'Larger prompts get 413 or are placed by their beginning, and fail with their first worker.',
    into: 'the virtual host',
    cure: 'request_body_buffer_limit: 16777216',
    // envoy 4.4
    *find({ askers }, { bodyLimitBytes }) {
      for (const { route, asker } of forwarding(askers)) {
        const limit = limitOf(route, asker);
        if (limit === undefined || limit.http1 >= bodyLimitBytes || passesWhole(route, asker)) continue;
        const found = `${limit.http1} bytes instead of ${bodyLimitBytes}`;
        yield { at: limit.at, found, cure: `request_body_buffer_limit: ${bodyLimitBytes}` };
      }
    },
  },
  {
    id: 'T15',
    level: 'error',
    title: "a body that Envoy keeps can be larger than the service's gRPC limit",
    consequence: 'Requests with such bodies go on without a pick, or get 500.',
    into: 'the virtual host',
    cure: 'request_body_buffer_limit: 16777216',
    // envoy 13.2
    *find({ askers }, { bodyLimitBytes, receiveLimitBytes }) {
      for (const { route, asker } of forwarding(askers)) {
        const limit = limitOf(route, asker);
        if (limit === undefined || !takesBodies(route, asker)) continue;
        const most = Math.max(limit.http1, limit.http2);
        if (most + MARGIN <= receiveLimitBytes) continue;
        yield {
          at: limit.largest,
          found: `${most} bytes and a margin of ${MARGIN}, while the service takes ${receiveLimitBytes}`,
          cure: `request_body_buffer_limit: ${bodyLimitBytes}   # or a larger --max-payload-size of the service`,
        };
      }
    },
  },
  {
    id: 'T16',
    level: 'warning',
    title: 'the stream window of HTTP/2 clients is their body limit',
    consequence: 'HTTP/2 clients have a limit of 16 MiB at least, whatever request_body_buffer_limit says.',
    into: 'the HTTP connection manager',
    cure: `http2_protocol_options:
  initial_stream_window_size: 1048576`,
    // envoy 4.4
    *find({ askers }) {
      for (const { chain, routes } of askers) {
        if (chain.manager.get('codec_type').choice(['AUTO', 'HTTP1', 'HTTP2', 'HTTP3'], 'AUTO') === 'HTTP1') continue;
        const window = chain.manager.get('http2_protocol_options', 'initial_stream_window_size');
        const limits = routes.flatMap((route) => bufferLimit(route)?.number() ?? []);
        const smallest = limits.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...limits);
        if (window.absent || (window.number() ?? 0) > smallest) yield { at: window };
      }
    },
  },
  {
    id: 'T17',
    level: 'note',
    title: 'request_body_buffer_limit is below per_connection_buffer_limit_bytes',
    consequence: 'It has no effect: the larger of the two counts.',
    into: 'the listener',
    cure: 'per_connection_buffer_limit_bytes: 1048576',
    // envoy 4.4
    *find({ askers }) {
      for (const { route, asker } of forwarding(askers)) {
        const limit = route === null ? undefined : bufferLimit(route);
        const connection = connectionLimit(asker);
        if (limit !== undefined && (limit.number() ?? Number.NaN) < (connection ?? Number.NaN)) yield { at: limit };
      }
    },
  },
];

interface Way {
  /** Null where no routes are known. */
  readonly route: Route | null;
  readonly asker: Asker;
}

/** The routes that share a limit count once. */
function forwarding(askers: readonly Asker[]): readonly Way[] {
  return askers.flatMap((asker) => {
    if (asksNobody(asker)) return [];
    const routes = asker.routes.filter(({ action }) => action.exists);
    if (routes.length === 0) return [{ route: null, asker }];
    const byLimit = new Map<unknown, Way>();
    for (const route of routes) byLimit.set(bufferLimit(route)?.tree ?? route.virtualHost.tree, { route, asker });
    return [...byLimit.values()];
  });
}

/** The limit of a route and where to raise it; undefined where a patch leaves it open. */
function limitOf(
  route: Route | null,
  { chain }: Asker,
):
  | { readonly at: ConfigNode; readonly http1: number; readonly http2: number; readonly largest: ConfigNode }
  | undefined {
  const connection = chain.listener.get('per_connection_buffer_limit_bytes');
  const own = route === null ? undefined : bufferLimit(route);
  const base = connection.number(MEBIBYTE);
  const raised = own === undefined ? openLimit(route, chain) : own.number();
  if (base === undefined || raised === undefined) return undefined;
  const http1 = Math.max(base, raised);
  const codec = chain.manager.get('codec_type').choice(['AUTO', 'HTTP1', 'HTTP2', 'HTTP3'], 'AUTO');
  const window = chain.manager.get('http2_protocol_options', 'initial_stream_window_size');
  const http2 = codec === 'HTTP1' ? http1 : Math.max(http1, window.number(DEFAULT_WINDOW) ?? 0);
  const larger = raised > base && own !== undefined ? own : connection;
  const at = own ?? route?.virtualHost ?? connection;
  return { at, http1, http2, largest: http2 > http1 ? window : larger };
}

function connectionLimit({ chain }: Asker): number | undefined {
  return chain.listener.get('per_connection_buffer_limit_bytes').number(MEBIBYTE);
}

/** The buffer limit of the route, else of its virtual host. */
function bufferLimit({ levels }: Route): ConfigNode | undefined {
  return levels.map((level) => level.get('request_body_buffer_limit')).find((limit) => limit.exists);
}

/** 0 where no level sets a limit, undefined where one may that is not known. */
function openLimit(route: Route | null, { manager }: HttpChain): number | undefined {
  // Gateways whose buffer is patched set none on their routes.
  if (route === null) return manager.get('rds').exists || manager.get('scoped_routes').exists ? undefined : 0;
  return route.levels.every((level) => level.get('request_body_buffer_limit').absent) ? 0 : undefined;
}

/** In full duplex no body is kept but for retries. */
function passesWhole(route: Route | null, asker: Asker): boolean {
  if (route === null || asker.kind !== 'ext_proc' || !isFullDuplex(modeOf(route, asker.filter))) return false;
  const cluster = asker.workers.find(({ name }) => name === route.cluster?.name);
  return retryPolicyOf(route, cluster).absent;
}

function takesBodies(route: Route | null, asker: Asker): boolean {
  if (asker.kind === 'ext_authz') return asker.config.get('with_request_body').exists;
  const modes = route === null ? asker.modes : [modeOf(route, asker.filter)];
  return (
    asker.config.get('allow_mode_override').bool() === true || modes.some(({ requestBody }) => requestBody !== 'NONE')
  );
}
