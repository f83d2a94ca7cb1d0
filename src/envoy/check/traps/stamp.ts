import {
  DESTINATION_KEY,
  ENVOY_MARK,
  STAMP_HEADER,
  WORKER_ID_KEY,
  WORKER_NAMESPACE,
  WORKER_STAMP_KEY,
} from '../../names.ts';
import type { CheckSettings } from '../check-settings.ts';
import { ConfigNode, extensionOf } from '../config-node.ts';
import type { WorkerCluster } from '../subject/asker.ts';
import { lbEndpointsOf } from '../subject/cluster.ts';
import { type Route, removalOf } from '../subject/routes.ts';
import type { Subject } from '../subject/subject.ts';
import type { Flaw, Trap } from '../trap.ts';
import { textOf, valuesIn } from '../tree.ts';
import { askingChains, ownLoggers, workerClusters } from './askers.ts';

const FILTER = 'HttpProtocolOptions of the worker cluster';
const OVERWRITE = 'OVERWRITE_IF_EXISTS_OR_ADD';
const STAMP = `http_filters:
  - name: stamp
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
      mutations:
        response_mutations:
          - {remove: ${STAMP_HEADER}}
          - append:
              header: {key: ${STAMP_HEADER}, value: "%UPSTREAM_METADATA(${WORKER_NAMESPACE}:${WORKER_STAMP_KEY})%"}
              append_action: ${OVERWRITE}
  - name: envoy.filters.http.upstream_codec
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec`;

/** Who is said to have answered (envoy 7). */
export const STAMP_TRAPS: readonly Trap[] = [
  {
    id: 'T42',
    level: 'warning',
    title: `a route adds ${STAMP_HEADER}`,
    consequence: "Envoy's own 503 and 504 then bear the name of a worker that did not answer.",
    into: FILTER,
    cure: STAMP,
    // envoy 7
    *find(subject) {
      for (const { at } of routeStamps(subject)) yield { at };
    },
  },
  {
    id: 'T43',
    level: 'error',
    title: `a worker can forge ${STAMP_HEADER}`,
    consequence: 'Its own header passes, or stands beside the right one.',
    into: 'the header to add, and what adds it',
    cure: `append_action: ${OVERWRITE}
response_headers_to_remove: [${STAMP_HEADER}]   # on the same virtual host or route`,
    // envoy 7
    *find(subject) {
      for (const { at, route } of routeStamps(subject)) {
        if (removalOf(route, 'response_headers_to_remove', STAMP_HEADER) === undefined)
          yield { at, found: 'it is not removed first' };
        if (!overwrites(at)) yield { at, found: 'append_action' };
      }
      for (const { at } of filterStamps(subject)) {
        if (!overwrites(at)) yield { at, found: 'append_action', cure: `append_action: ${OVERWRITE}` };
      }
    },
  },
  {
    id: 'T44',
    level: 'error',
    title: `${STAMP_HEADER} names the worker that was meant, not the one that answered`,
    consequence: 'It is wrong after each retry.',
    into: FILTER,
    cure: STAMP,
    // envoy 7
    *find(subject) {
      for (const { at, value } of [...routeStamps(subject), ...filterStamps(subject)]) {
        if (namesIntent(value)) yield { at, found: value };
      }
    },
  },
  {
    id: 'T45',
    level: 'error',
    title: 'workers in the file lack the metadata that names them',
    consequence: 'Answers and access-log entries do not say who answered.',
    into: 'each of the lb_endpoints',
    cure: `metadata:
  filter_metadata:
    ${WORKER_NAMESPACE}: {${WORKER_ID_KEY}: "http://10.0.0.1:8000", ${WORKER_STAMP_KEY}: "http://10.0.0.1:8000"}`,
    // envoy 7
    *find(subject, settings) {
      for (const cluster of workerClusters(subject)) yield* unnamed(subject, cluster, settings);
    },
  },
  {
    id: 'T46',
    level: 'warning',
    title: 'obsolete form of a formatter',
    consequence: 'Envoy warns of it, and a later one refuses it.',
    into: 'the value',
    cure: '"%UPSTREAM_METADATA(namespace:key)%"   # colons between the names',
    // envoy 7
    *find({ trees }) {
      for (const tree of valuesIn(trees)) {
        const [form] = /%(UPSTREAM_METADATA|DYNAMIC_METADATA)\(\[.*?\]\)/.exec(textOf(tree) ?? '') ?? [];
        if (form !== undefined) yield { at: ConfigNode.of(tree), found: `${form}%` };
      }
    },
  },
  {
    id: 'T85',
    level: 'error',
    title: `nothing writes ${STAMP_HEADER}`,
    consequence: 'Answers do not say who gave them, and one that a worker forges passes.',
    into: FILTER,
    cure: STAMP,
    // envoy 7
    remark: `Only where \`${ENVOY_MARK}\` tells the service that Envoy does it, and not with \`--routed-worker-id off\`.`,
    *find(subject, { namesWorkers }) {
      if (!namesWorkers || routeStamps(subject).length > 0) return;
      const relying = subject.askers.filter(({ service }) => service.initialMetadata.has(ENVOY_MARK));
      const clusters = new Map(relying.flatMap(({ workers }) => workers).map((cluster) => [cluster.name, cluster]));
      for (const cluster of clusters.values()) {
        if (stampsOf(cluster).length === 0) yield { at: cluster.node, found: cluster.name };
      }
    },
  },
];

interface Stamp {
  /** A `HeaderValueOption`. */
  readonly at: ConfigNode;
  readonly value: string;
}

/** What routes and what is around them add to responses. */
function routeStamps({ askers }: Subject): readonly (Stamp & { readonly route: Route })[] {
  const found = new Map<unknown, Stamp & { readonly route: Route }>();
  for (const route of askers.flatMap(({ routes }) => routes)) {
    for (const at of route.levels.flatMap((level) => level.get('response_headers_to_add').items())) {
      if (isStamp(at) && !found.has(at.tree))
        found.set(at.tree, { at, route, value: at.get('header', 'value').text() ?? '' });
    }
  }
  return [...found.values()];
}

/** What upstream filters add to the answers of workers. */
function filterStamps(subject: Subject): readonly Stamp[] {
  return workerClusters(subject).flatMap(stampsOf);
}

function stampsOf({ http }: WorkerCluster): readonly Stamp[] {
  const filters = http.get('http_filters').items();
  const mutations = filters.flatMap((filter) =>
    extensionOf(filter).config.get('mutations', 'response_mutations').items(),
  );
  return mutations
    .map((mutation) => mutation.get('append'))
    .filter(isStamp)
    .map((at) => ({ at, value: at.get('header', 'value').text() ?? '' }));
}

function isStamp(option: ConfigNode): boolean {
  return option.get('header', 'key').text()?.toLowerCase() === STAMP_HEADER;
}

const ACTIONS = ['APPEND_IF_EXISTS_OR_ADD', 'ADD_IF_ABSENT', OVERWRITE, 'OVERWRITE_IF_EXISTS'];

function overwrites(option: ConfigNode): boolean {
  // The old switch stands for the same.
  if (option.get('append').bool() === false) return true;
  return option.get('append_action').choice(ACTIONS, ACTIONS[0]) === OVERWRITE;
}

function namesIntent(value: string): boolean {
  if (/%REQ(UEST_HEADER)?\(/.test(value)) return true;
  return [...value.matchAll(/%DYNAMIC_METADATA\(([^)]*)\)/g)].some(([, path = '']) => {
    return path.replace(/["[\]\s]/g, '').split(/[:,]/)[1] === DESTINATION_KEY;
  });
}

/** One finding for a cluster, at the first worker without a name. */
function* unnamed(subject: Subject, cluster: WorkerCluster, settings: CheckSettings): Generator<Flaw> {
  const wanted = keysRead(subject, settings);
  if (wanted.length === 0) return;
  for (const endpoint of lbEndpointsOf(cluster.node)) {
    const metadata = endpoint.get('metadata', 'filter_metadata', WORKER_NAMESPACE);
    const lacking = wanted.filter((key) => metadata.get(key).absent);
    if (lacking.length === 0) continue;
    const keys = lacking.map((key) => `${WORKER_NAMESPACE} / ${key}`).join(', ');
    yield { at: endpoint, found: `${cluster.name}: ${keys}` };
    return;
  }
}

/** Keys of the namespace that stamps and loggers read. */
function keysRead(subject: Subject, settings: CheckSettings): readonly string[] {
  const keys = new Set<string>();
  for (const { value } of [...routeStamps(subject), ...filterStamps(subject)]) {
    for (const [, path = ''] of value.matchAll(/%UPSTREAM_METADATA\(([^)]*)\)/g)) {
      const [namespace, key] = path.replace(/["[\]\s]/g, '').split(/[:,]/);
      if (namespace === WORKER_NAMESPACE && key !== undefined) keys.add(key);
    }
  }
  const loggers = askingChains(subject).flatMap((chain) => ownLoggers(subject, chain, settings));
  for (const tag of loggers.flatMap(({ config }) => config.get('custom_tags').items())) {
    const metadata = tag.get('metadata');
    if (!metadata.get('kind', 'host').exists) continue;
    const key = metadata.get('metadata_key');
    const name = key.get('path').items()[0]?.get('key').text();
    if (key.get('key').text() === WORKER_NAMESPACE && name !== undefined) keys.add(name);
  }
  return [...keys];
}
