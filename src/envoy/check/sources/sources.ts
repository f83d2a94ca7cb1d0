import type { CheckSettings } from '../check-settings.ts';
import { ConfigNode, typeOf } from '../config-node.ts';
import type { NotJudged } from '../not-judged.ts';
import { itemsOf, member, showPlace, type Tree, textOf, valuesIn } from '../tree.ts';
import { envoyGatewayPatches } from './envoy-gateway.ts';
import { istioPatches } from './istio.ts';
import { kgatewayPatches } from './kgateway.ts';

/** The parts of Envoy's configuration that files hold, whatever they are wrapped into. */
export interface Sources {
  readonly bootstraps: readonly ConfigNode[];
  readonly listeners: readonly ConfigNode[];
  readonly clusters: readonly ConfigNode[];
  /** Route configurations that stand by themselves. */
  readonly routeConfigs: readonly ConfigNode[];
  readonly trees: readonly Tree[];
  readonly notJudged: readonly NotJudged[];
  /** Something may be set where none of the files tells: patches, or listeners of a control plane. */
  readonly open: boolean;
  /** `--destination-header` of a service that stands among the resources; null when none does. */
  readonly destinationHeader: string | null;
}

/** Name of the runtime guard that lets the service end its streams, wherever a gateway has it written. */
const GRACEFUL_CLOSE = 'ext_proc_graceful_grpc_close';

/**
 * Reads bootstraps, dumps of Envoy's admin interface (`/config_dump`), discovery responses, and the resources of Istio, Envoy
 * Gateway and kgateway that configure Envoy; other resources of Kubernetes are passed over.
 */
export function sourcesOf(trees: readonly Tree[], { nodeHttp2 }: CheckSettings, problems: string[]): Sources {
  const found = new Collector();
  const resources: Tree[] = [];
  for (const tree of trees.flatMap(unlisted)) {
    if (isResource(tree)) resources.push(tree);
    else if (isBootstrap(tree)) found.bootstrap(tree);
    else if (!found.typed(tree)) problems.push(`${showPlace(tree.place)}: this is no configuration of Envoy`);
  }
  const patches = [istioPatches(resources), envoyGatewayPatches(resources), kgatewayPatches(resources)];
  const guarded = !nodeHttp2 || mentions(trees, GRACEFUL_CLOSE);
  for (const patch of patches) if (patch !== null) found.patch(patch, guarded);
  const [first] = resources;
  if (first !== undefined && patches.every((patch) => patch === null)) found.leftToGateway(first);
  for (const resource of resources) {
    const inside = textOf(member(resource, 'kind')) === 'ConfigMap' ? bootstrapIn(resource) : null;
    if (inside !== null) problems.push(`${showPlace(inside.place)}: ${AS_TEXT}`);
  }
  return { ...found.sources(), trees, destinationHeader: headerOfService(resources) };
}

const AS_TEXT = 'a bootstrap stands here as text: give it as a file of its own';

function bootstrapIn(configMap: Tree): Tree | null {
  for (const value of valuesIn([member(configMap, 'data') ?? configMap])) {
    if (/^\s*"?(static_resources|staticResources|dynamic_resources|dynamicResources)"?:/m.test(textOf(value) ?? ''))
      return value;
  }
  return null;
}

/** Also inside of texts, as of annotations. */
function mentions(trees: readonly Tree[], name: string): boolean {
  for (const value of valuesIn(trees)) {
    if (textOf(value)?.includes(name) === true) return true;
    if (value.kind === 'map' && [...value.entries.keys()].some((key) => key.includes(name))) return true;
  }
  return false;
}

/** `destination_header` of a config file of the service in a ConfigMap. */
function headerOfService(resources: readonly Tree[]): string | null {
  for (const resource of resources) {
    if (textOf(member(resource, 'kind')) !== 'ConfigMap') continue;
    for (const value of valuesIn([member(resource, 'data') ?? resource])) {
      const [, name] = /^destination_header:\s*["']?([^\s"'#]+)/m.exec(textOf(value) ?? '') ?? [];
      if (name !== undefined) return name.toLowerCase();
    }
  }
  return null;
}

/** The items of a Kubernetes `List`, or the tree itself. */
function unlisted(tree: Tree): readonly Tree[] {
  return textOf(member(tree, 'kind')) === 'List' ? itemsOf(member(tree, 'items')).flatMap(unlisted) : [tree];
}

function isResource(tree: Tree): boolean {
  return member(tree, 'apiVersion') !== null && member(tree, 'kind') !== null;
}

function isBootstrap(tree: Tree): boolean {
  const node = ConfigNode.of(tree);
  return ['static_resources', 'dynamic_resources', 'layered_runtime'].some((name) => node.get(name).exists);
}

class Collector {
  readonly #bootstraps: ConfigNode[] = [];
  readonly #listeners: ConfigNode[] = [];
  readonly #clusters: ConfigNode[] = [];
  readonly #routeConfigs: ConfigNode[] = [];
  readonly #notJudged: NotJudged[] = [];
  #open = false;

  bootstrap(tree: Tree): void {
    const node = ConfigNode.of(tree);
    this.#bootstraps.push(node);
    this.#listeners.push(...node.get('static_resources', 'listeners').items());
    this.#clusters.push(...node.get('static_resources', 'clusters').items());
    const lds = node.get('dynamic_resources', 'lds_config');
    if (!lds.exists) return;
    this.#open = true;
    const reason = 'listeners come from a control plane; give a dump of /config_dump to judge them';
    this.#notJudged.push({ place: lds.place, reason });
  }

  /** What a gateway adds to a configuration of its own. `guarded`: nothing is left to say of the runtime guard. */
  patch(tree: Tree, guarded: boolean): void {
    this.bootstrap(tree);
    this.#open = true;
    if (guarded) return;
    const reason = `whether the gateway's Envoys have the runtime guard ${GRACEFUL_CLOSE} (T1) stands elsewhere`;
    this.#notJudged.push({ place: tree.place, reason });
  }

  leftToGateway({ place }: Tree): void {
    this.#open = true;
    this.#notJudged.push({ place, reason: 'no resource here configures Envoy: that is left to the gateway' });
  }

  /** Resources by their `@type`, as in a dump; false when there are none. */
  typed(tree: Tree): boolean {
    let found = false;
    for (const value of valuesIn([tree])) {
      if (value.kind !== 'map') continue;
      const node = ConfigNode.of(value);
      const type = typeOf(node);
      if (type.endsWith('.listener.v3.Listener')) this.#listeners.push(node);
      else if (type.endsWith('.cluster.v3.Cluster')) this.#clusters.push(node);
      else if (type.endsWith('.route.v3.RouteConfiguration')) this.#routeConfigs.push(node);
      // Its static resources are dumped once more, by their types.
      else if (type.endsWith('.BootstrapConfigDump')) this.#bootstraps.push(node.get('bootstrap'));
      else continue;
      found = true;
    }
    return found;
  }

  sources(): Omit<Sources, 'trees' | 'destinationHeader'> {
    return {
      bootstraps: this.#bootstraps,
      listeners: this.#listeners,
      clusters: this.#clusters,
      routeConfigs: this.#routeConfigs,
      notJudged: this.#notJudged,
      open: this.#open,
    };
  }
}
