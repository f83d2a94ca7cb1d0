import type { CheckSettings } from '../check-settings.ts';
import { ConfigNode, typeOf } from '../config-node.ts';
import { asksNobody, grpcServiceOf, modeOf } from '../subject/asker.ts';
import { httpFilterOf } from '../subject/http-chain.ts';
import { isBuffered } from '../subject/processing-mode.ts';
import { perFilterConfig, type Route } from '../subject/routes.ts';
import type { Subject } from '../subject/subject.ts';
import type { Trap } from '../trap.ts';
import { textOf, valuesIn } from '../tree.ts';
import { askingChains, processors } from './askers.ts';

const FILTER = 'typed_config of the ext_proc filter';

/** Where the filter stands, what stands beside it, and what switches it off. */
export const CHAIN_TRAPS: readonly Trap[] = [
  {
    id: 'T54',
    level: 'error',
    title: 'upgrades on a route that buffers bodies',
    consequence: 'The handshake of a WebSocket hangs.',
    into: 'a route of its own, before this one',
    cure: `match: {prefix: /, headers: [{name: upgrade, present_match: true}]}
typed_per_filter_config:
  envoy.filters.http.ext_proc:
    "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute
    overrides: {processing_mode: {request_header_mode: SEND, response_header_mode: SKIP, request_body_mode: NONE}}`,
    // envoy 14
    *find(subject) {
      for (const { chain, filter, routes } of processors(subject)) {
        const upgrades = chain.manager.get('upgrade_configs');
        if (!takesUpgrades(upgrades)) continue;
        const bad = routes.find((route) => {
          const refused = refusesUpgrades(route.action.get('upgrade_configs'));
          return (
            route.action.exists && !route.upgradesTaken && !refused && isBuffered(modeOf(route, filter).requestBody)
          );
        });
        if (bad !== undefined) yield { at: modeOf(bad, filter).at.get('request_body_mode') };
      }
    },
  },
  {
    id: 'T55',
    level: 'error',
    title: 'observability_mode',
    consequence: 'Envoy ignores every answer of the service.',
    into: FILTER,
    cure: '# delete observability_mode',
    // envoy 4.1
    find: (subject) => switchedOn(subject, 'observability_mode'),
  },
  {
    id: 'T56',
    level: 'error',
    title: 'disable_immediate_response',
    consequence: 'What the service refuses becomes 500.',
    into: FILTER,
    cure: '# delete disable_immediate_response',
    // envoy 10.2
    find: (subject) => switchedOn(subject, 'disable_immediate_response'),
  },
  {
    id: 'T57',
    level: 'error',
    title: 'the service is asked when the worker has been chosen',
    consequence: 'The pick comes too late.',
    into: 'http_filters of the HTTP connection manager, before the router',
    cure: '- name: envoy.filters.http.ext_proc   # move the filter here',
    // envoy 6.1
    *find(subject) {
      for (const { filters } of askingChains(subject)) {
        const end = filters.findIndex(({ kind }) => kind === 'router');
        for (const filter of end < 0 ? [] : filters.slice(end + 1)) {
          if (filter.kind === 'ext_proc') yield { at: filter.node, found: 'it stands behind the router' };
        }
      }
      for (const node of upstreamFilters(subject)) yield { at: node, found: 'it is an upstream filter' };
    },
  },
  {
    id: 'T58',
    level: 'warning',
    title: 'more than one ext_proc filter in a chain, or a wrapped one',
    consequence: 'Several picks for one request; before Envoy 1.38 bodies can be cut.',
    into: 'http_filters of the HTTP connection manager',
    cure: '# one ext_proc filter, under a name of its own, without a matcher around it',
    // envoy 18
    *find(subject) {
      for (const { filters } of askingChains(subject)) {
        const processing = filters.filter(({ kind }) => kind === 'ext_proc');
        for (const filter of processing) if (filter.wrapped) yield { at: filter.node, found: 'wrapped into a matcher' };
        const second = processing[1];
        if (second !== undefined) yield { at: second.node, found: `${processing.length} ext_proc filters` };
        for (const filter of processing) {
          const twin = filters.find(
            (other) => other !== filter && other.name === filter.name && other.kind !== 'ext_proc',
          );
          if (twin !== undefined) yield { at: twin.node, found: `two filters are named ${filter.name}` };
        }
      }
    },
  },
  {
    id: 'T59',
    level: 'error',
    title: 'options of a route for a filter that is not there',
    consequence: 'They have no effect: the key has to be the name of the filter in the chain.',
    into: 'typed_per_filter_config',
    cure: 'envoy.filters.http.ext_proc:   # the name of the filter',
    // envoy 4.1
    *find(subject) {
      for (const chain of askingChains(subject)) {
        if (!chain.manager.get('http_filters').exists || chain.filters.every(({ kind }) => kind !== 'router')) continue;
        const names = chain.filters.map(({ name }) => name);
        const asking = subject.askers.find((asker) => asker.chain === chain)?.filter.name ?? '';
        for (const { name, config } of perRouteOptions(chain.routes)) {
          if (!names.includes(name)) yield { at: config, found: name, cure: `${asking}:   # instead of ${name}` };
        }
      }
    },
  },
  {
    id: 'T60',
    level: 'note',
    title: 'an option of a route that Envoy does not implement',
    consequence: 'It has no effect.',
    into: 'overrides of the ext_proc configuration of the route',
    cure: '# delete request_attributes, response_attributes and async_mode',
    // envoy 4.1
    *find(subject) {
      for (const { chain, filter } of processors(subject)) {
        for (const { name, config } of perRouteOptions(chain.routes)) {
          if (name !== filter.name) continue;
          for (const option of ['request_attributes', 'response_attributes', 'async_mode']) {
            const at = config.get('overrides', option);
            if (at.exists) yield { at, found: option };
          }
        }
      }
    },
  },
  {
    id: 'T68',
    level: 'note',
    title: 'a decompressor stands before the service',
    consequence: 'Bodies reach workers without a length, and their end is told late.',
    into: 'http_filters of the HTTP connection manager',
    cure: '# good to know; behind the ext_proc filter the service would see compressed bodies',
    // envoy 13.1
    *find(subject) {
      for (const { chain, filter } of processors(subject)) {
        for (const other of chain.filters.slice(0, chain.filters.indexOf(filter))) {
          if (other.type.endsWith('.http.decompressor.v3.Decompressor') && !other.off) yield { at: other.node };
        }
      }
    },
  },
  {
    id: 'T73',
    level: 'warning',
    title: 'a route for probes asks the service',
    consequence: 'Probes depend on the service, and count as requests to be placed.',
    into: 'the route',
    cure: `typed_per_filter_config:
  envoy.filters.http.ext_proc:
    "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute
    disabled: true`,
    // envoy 2.2
    *find({ askers }) {
      for (const { probeRoutes } of askers) for (const { node } of probeRoutes) yield { at: node };
    },
  },
  {
    id: 'T74',
    level: 'note',
    refused: true,
    title: 'a field that this Envoy does not know',
    consequence: 'Envoy refuses the file.',
    into: 'where it stands',
    cure: '# delete it, or use a later Envoy',
    // envoy 20
    remark: 'By `--envoy-version`.',
    *find({ trees }, settings) {
      yield* tooNew(trees, settings);
    },
  },
  {
    id: 'T78',
    level: 'warning',
    title: 'proxy_100_continue',
    consequence: 'Requests with Expect are not retried, and a forged worker id passes on interim answers.',
    into: 'the HTTP connection manager',
    cure: '# delete proxy_100_continue',
    // envoy 6.9
    *find(subject) {
      for (const { manager } of askingChains(subject)) {
        const on = manager.get('proxy_100_continue');
        if (on.bool() === true) yield { at: on };
      }
    },
  },
  {
    id: 'T83',
    level: 'error',
    title: 'the filter that asks the service is off, and no route turns it on',
    consequence: 'Nobody is asked: Envoy chooses every worker itself.',
    into: 'the filter in http_filters',
    cure: '# delete disabled',
    remark: 'Only where the files have the routes.',
    *find({ askers }) {
      for (const asker of askers) if (asksNobody(asker)) yield { at: asker.filter.node.get('disabled') };
    },
  },
  {
    id: 'T84',
    level: 'warning',
    title: 'a filter before the service keeps whole bodies back',
    consequence:
      'Every request waits for all of its body, a larger one gets 413, and WebSockets and gRPC streams hang.',
    into: 'http_filters of the HTTP connection manager',
    cure: '# delete it: the service asks for a body where it needs one',
    *find(subject) {
      for (const { chain, filter } of subject.askers) {
        for (const other of chain.filters.slice(0, chain.filters.indexOf(filter))) {
          if (other.type.endsWith('.http.buffer.v3.Buffer') && !other.off) yield { at: other.node };
        }
      }
    },
  },
];

function* switchedOn(subject: Subject, field: string): Generator<{ readonly at: ConfigNode }> {
  for (const { config } of processors(subject)) {
    const on = config.get(field);
    if (on.bool() === true) yield { at: on };
  }
}

function takesUpgrades(list: ConfigNode): boolean {
  return list.items().some((upgrade) => upgrade.get('enabled').bool(true) !== false);
}

function refusesUpgrades(list: ConfigNode): boolean {
  return list.items().some((upgrade) => upgrade.get('enabled').bool(true) === false);
}

/** ext_proc filters behind the choice of a host that ask the service, or any where nothing else asks it. */
function upstreamFilters(subject: Subject): readonly ConfigNode[] {
  const asked = new Set(subject.askers.map(({ service }) => service.clusterName));
  const ofClusters = [...subject.clusters.values()].flatMap(({ http }) => http.get('http_filters').items());
  const routers = subject.chains.flatMap(({ filters }) => filters.filter(({ kind }) => kind === 'router'));
  const ofRouters = routers.flatMap(({ config }) => config.get('upstream_http_filters').items());
  return [...ofClusters, ...ofRouters].filter((node) => {
    const { kind, config } = httpFilterOf(node);
    if (kind !== 'ext_proc') return false;
    const { clusterName } = grpcServiceOf(config.get('grpc_service'));
    return asked.size === 0 || asked.has(clusterName);
  });
}

/** What levels of routes say about ext_proc and ext_authz filters, each once. */
function perRouteOptions(routes: readonly Route[]): readonly { readonly name: string; readonly config: ConfigNode }[] {
  const found = new Map<unknown, { readonly name: string; readonly config: ConfigNode }>();
  for (const level of routes.flatMap(({ levels }) => levels)) {
    for (const [name] of level.get('typed_per_filter_config').entries()) {
      const given = perFilterConfig(level, name);
      const config = typeOf(given).endsWith('.FilterConfig') ? given.get('config') : given;
      if (/\.(ExtProcPerRoute|ExtAuthzPerRoute)$/.test(typeOf(config))) found.set(given.tree, { name, config });
    }
  }
  return [...found.values()];
}

function* tooNew(
  trees: Subject['trees'],
  { envoyMinor }: CheckSettings,
): Generator<{ readonly at: ConfigNode; readonly found: string }> {
  if (envoyMinor >= 38) return;
  for (const tree of valuesIn(trees)) {
    if (textOf(tree)?.includes('%UPSTREAM_HOSTS_ATTEMPTED') === true) {
      yield { at: ConfigNode.of(tree), found: '%UPSTREAM_HOSTS_ATTEMPTED% needs Envoy 1.38' };
    }
    if (tree.kind !== 'map') continue;
    const node = ConfigNode.of(tree);
    const served = node.get('selected_host_key');
    if (served.exists) yield { at: served, found: 'selected_host_key needs Envoy 1.38' };
    const limit = node.get('request_body_buffer_limit');
    if (limit.exists && envoyMinor < 36) yield { at: limit, found: 'request_body_buffer_limit needs Envoy 1.36' };
  }
}
