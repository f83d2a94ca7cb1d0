import { ENVOY_MARK, SEND_ONCE_HEADER } from '../../names.ts';
import type { CheckSettings } from '../check-settings.ts';
import type { ConfigNode } from '../config-node.ts';
import { type Asker, modeOf } from '../subject/asker.ts';
import { isBuffered, isFullDuplex } from '../subject/processing-mode.ts';
import type { Route } from '../subject/routes.ts';
import type { Subject } from '../subject/subject.ts';
import type { Flaw, Trap } from '../trap.ts';
import { processors, retryPolicyOf } from './askers.ts';
import { hasPreviousHosts } from './picker-cluster.ts';
import { isShort } from './time.ts';

const POLICY = `retry_policy:
  retry_on: connect-failure,refused-stream,reset,retriable-status-codes
  retriable_status_codes: [408, 429, 500, 502, 503, 504]
  num_retries: 4
  retry_back_off: {base_interval: 0.05s, max_interval: 30s}
  retry_host_predicate:
    - name: envoy.retry_host_predicates.previous_hosts
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
  host_selection_retry_max_attempts: 50`;

const ONCE = `# before the route to the workers, and with its cluster
- match: {prefix: /, headers: [{name: ${SEND_ONCE_HEADER}, present_match: true}]}
  route: {cluster: workers, timeout: 0s, idle_timeout: 900s}   # no retry_policy`;

/** Conditions that hold for a connection that failed. */
const ON_CONNECT = ['connect-failure', 'reset', '5xx', 'gateway-error'];
/** Draws with which no small fleet meets a failed worker again (envoy 6.9). */
const SELECTIONS = 50;

/** What happens when the worker, or the service, fails. */
export const RETRY_TRAPS: readonly Trap[] = [
  {
    id: 'T10',
    level: 'warning',
    title: 'full duplex with fail open or retries',
    consequence:
      'Once body went to the service, fail open does not hold; where a retry is possible, Envoy doubles a body that trailers follow.',
    into: 'typed_config of the ext_proc filter',
    cure: 'failure_mode_allow: false',
    // envoy 4.6
    *find(subject) {
      for (const asker of processors(subject)) yield* duplexFlaws(asker);
    },
  },
  {
    id: 'T31',
    level: 'error',
    title: 'fail closed while streams are held',
    consequence: 'When the service goes away, running answers are cut.',
    into: 'typed_config of the ext_proc filter',
    cure: 'failure_mode_allow: true',
    // envoy 3.2
    remark:
      'Body streams end with their answer where `initial_metadata` has `x-smg-envoy` and `--transport` is `http2`. Else a body that the service asks for holds its stream, too: the price of fail closed with bodies, and not reported.',
    *find(subject, { envoyMinor, nodeHttp2 }) {
      for (const { config, modes, service } of processors(subject)) {
        const open = config.get('failure_mode_allow');
        if (open.bool(false) !== false) continue;
        const weEnd = !nodeHttp2 && service.initialMetadata.has(ENVOY_MARK);
        for (const mode of modes) {
          if (isFullDuplex(mode)) continue;
          const why = heldBy(mode, envoyMinor, weEnd);
          if (why !== null) yield { at: mode.at.get(why), found: why };
        }
      }
    },
  },
  {
    id: 'T38',
    level: 'warning',
    title: 'a failed connection is not tried again',
    consequence: "The service's list of workers is never walked: the client gets 503.",
    into: 'route',
    cure: POLICY,
    // envoy 6.3
    *find(subject) {
      for (const { route, policy } of retried(subject)) {
        if (policy.absent) yield { at: route.action };
        else if (policy.exists && !conditions(policy).some((one) => ON_CONNECT.includes(one))) {
          if (policy.get('retry_on').exists || policy.get('retry_on').absent)
            yield { at: policy, found: 'no connect-failure in retry_on' };
        }
      }
    },
  },
  {
    id: 'T39',
    level: 'warning',
    levelBy: '`reset` counts with `--retry-on-reset off` only',
    title: 'requests are repeated that a worker may be working on',
    consequence: 'A generation runs twice, or is cut.',
    into: 'retry_policy',
    cure: 'retry_on: connect-failure,refused-stream,reset-before-request,retriable-status-codes',
    // envoy 6.9
    *find(subject, { repeatsOnReset }) {
      for (const { policy } of retried(subject)) {
        const bad = conditions(policy).filter(
          (one) => one === '5xx' || one === 'gateway-error' || (one === 'reset' && !repeatsOnReset),
        );
        if (bad.length > 0) yield { at: policy.get('retry_on'), found: bad.join(', ') };
        const each = policy.get('per_try_timeout');
        if ((each.seconds(0) ?? 0) > 0) yield { at: each, found: 'per_try_timeout', cure: '# delete per_try_timeout' };
        const silent = policy.get('per_try_idle_timeout');
        if (isShort(silent.seconds())) {
          yield { at: silent, found: 'per_try_idle_timeout', cure: '# delete per_try_idle_timeout' };
        }
      }
    },
  },
  {
    id: 'T40',
    level: 'note',
    title: 'retries do not use the list of workers up, or meet a failed worker again',
    consequence: 'A request fails although another worker could have served it.',
    into: 'retry_policy',
    cure: POLICY.split('\n')
      .slice(3)
      .map((line) => line.slice(2))
      .join('\n'),
    // envoy 6.9
    *find(subject, settings) {
      for (const { policy, overrides } of retried(subject)) {
        if (!policy.exists || !overrides) continue;
        const lacking = retryGaps(policy, settings);
        if (lacking.length > 0) yield { at: policy, found: lacking.join(', ') };
      }
    },
  },
  {
    id: 'T72',
    level: 'warning',
    title: 'the mirrored prefill request can get lost or renamed',
    consequence: 'A failed first prefill worker is not followed by the next one; workers see a host name with -shadow.',
    into: 'request_mirror_policies, and HttpProtocolOptions of the prefill cluster',
    cure: `disable_shadow_host_suffix_append: true              # of the mirror policy
retry_policy: {retry_on: connect-failure, num_retries: 2}   # of HttpProtocolOptions (Envoy 1.37)`,
    // envoy 12
    remark: 'Only for mirrors with `--pd-dispatch mirror`, or to a cluster that takes picks.',
    *find(subject, { pdDispatch, envoyMinor }) {
      for (const mirror of mirrors(subject)) {
        const name = mirror.get('cluster').text();
        const cluster = name === undefined ? undefined : subject.clusters.get(name);
        if (pdDispatch !== 'mirror' && (cluster === undefined || cluster.overrideHost === null)) continue;
        const lacking: string[] = [];
        if (mirror.get('disable_shadow_host_suffix_append').bool(false) === false)
          lacking.push('the host gets -shadow');
        if (envoyMinor >= 37 && cluster?.http.get('retry_policy').absent === true)
          lacking.push(`cluster ${name} has no retry_policy`);
        if (lacking.length > 0) yield { at: mirror, found: lacking.join(', ') };
      }
    },
  },
  {
    id: 'T80',
    level: 'note',
    title: 'a body that trailers follow reaches its worker twice',
    consequence:
      'Where a retry is possible, Envoy hands on once more what the service has read, when trailers come behind it.',
    into: 'routes of the virtual host',
    cure: ONCE,
    // envoy I25
    remark: `Few clients send trailers. Only with ${ENVOY_MARK} in initial_metadata does the service take that route. In full duplex it is T10.`,
    *find(subject, { bodyReason }) {
      const askers = processors(subject).filter(({ service }) => service.initialMetadata.has(ENVOY_MARK));
      for (const asker of askers) {
        for (const { route, policy } of retriedOf(asker)) {
          const { requestBody } = modeOf(route, asker.filter);
          const read =
            requestBody === 'BUFFERED_PARTIAL' || (requestBody === 'NONE' && asksForBodies(asker, bodyReason));
          if (read && policy.exists && route.virtualHost.exists && !hasRouteForOnce(route)) yield { at: policy };
        }
      }
    },
  },
];

function asksForBodies({ config }: Asker, bodyReason: string | null): boolean {
  return bodyReason !== null && config.get('allow_mode_override').bool(false) === true;
}

function* duplexFlaws(asker: Asker): Generator<Flaw> {
  const { config, filter, routes } = asker;
  const duplex = asker.modes.filter(({ requestBody }) => requestBody === 'FULL_DUPLEX_STREAMED');
  if (duplex.length === 0) return;
  const open = config.get('failure_mode_allow');
  if (open.bool(false) === true) yield { at: open, found: 'fail open' };
  for (const route of routes) {
    const policy = route.action.get('retry_policy');
    if (!policy.exists || modeOf(route, filter).requestBody !== 'FULL_DUPLEX_STREAMED') continue;
    if (hasRouteForOnce(route)) continue;
    yield { at: policy, found: 'retries', cure: '# delete retry_policy' };
  }
}

/** The field that keeps the stream open while the worker answers; `weEnd`: the service ends it with the answer to a body. */
function heldBy(mode: ReturnType<typeof modeOf>, envoyMinor: number, weEnd: boolean): string | null {
  if (mode.responseTrailers === 'SEND') return 'response_trailer_mode';
  if (isBuffered(mode.requestBody) && !(weEnd && mode.responseBody === 'NONE')) return 'request_body_mode';
  return mode.responseHeaders === 'SEND' && envoyMinor < 37 ? 'response_header_mode' : null;
}

interface Retried {
  readonly route: Route;
  readonly policy: ConfigNode;
  /** The cluster walks the service's list. */
  readonly overrides: boolean;
}

function retried({ askers }: Subject): readonly Retried[] {
  const all = askers.flatMap(retriedOf);
  return all.filter(({ policy, route }, index) => {
    const place = policy.exists ? policy.tree : route.node.tree;
    return (
      all.findIndex((other) => (other.policy.exists ? other.policy.tree : other.route.node.tree) === place) === index
    );
  });
}

/** Where a retry goes to the same address again, or a body is streamed through the service, there is nothing to walk. */
function retriedOf(asker: Asker): readonly Retried[] {
  return asker.routes.flatMap((route) => {
    if (!route.action.exists || isForOnce(route.node)) return [];
    const cluster = asker.workers.find(({ name }) => name === route.cluster?.name);
    const duplex = asker.kind === 'ext_proc' && modeOf(route, asker.filter).requestBody === 'FULL_DUPLEX_STREAMED';
    if (cluster?.type === 'ORIGINAL_DST' || duplex) return [];
    const policy = retryPolicyOf(route, cluster);
    return [{ route, policy, overrides: cluster !== undefined && cluster.overrideHost !== null }];
  });
}

function hasRouteForOnce({ virtualHost }: Route): boolean {
  return virtualHost.get('routes').items().some(isForOnce);
}

/** The route of the generated configuration for bodies that a retry would double. */
function isForOnce(node: ConfigNode): boolean {
  return node
    .get('match')
    .get('headers')
    .items()
    .some((header) => header.get('name').text() === SEND_ONCE_HEADER);
}

function conditions(policy: ConfigNode): readonly string[] {
  return (policy.get('retry_on').text() ?? '').split(',').map((one) => one.trim());
}

function retryGaps(policy: ConfigNode, { fallbacks, attempts }: CheckSettings): readonly string[] {
  const lacking: string[] = [];
  const wanted = Math.min(fallbacks, attempts - 1);
  const retries = policy.get('num_retries').number(1);
  if (retries !== undefined && retries < wanted) lacking.push(`num_retries ${retries} for ${wanted} further workers`);
  if (retries === 0) return lacking;
  if (!hasPreviousHosts(policy)) lacking.push('no previous_hosts');
  const selections = policy.get('host_selection_retry_max_attempts').number(1);
  if (selections !== undefined && selections < SELECTIONS)
    lacking.push(`host_selection_retry_max_attempts ${selections}`);
  return lacking;
}

function mirrors({ askers }: Subject): readonly ConfigNode[] {
  const actions = new Set(askers.flatMap(({ routes }) => routes.map(({ action }) => action)));
  return [...actions].flatMap((action) => action.get('request_mirror_policies').items());
}
