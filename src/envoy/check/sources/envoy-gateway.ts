import { parseQuantity } from '../durations.ts';
import { asPatch, itemsOf, listOf, member, type Place, partOf, scalarOf, type Tree, textOf, wholeOf } from '../tree.ts';
import { PatchedEnvoy } from './patched-envoy.ts';

const EXT_PROC = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor';
const EARLY = 'type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation';
const OVERRIDE = 'type.googleapis.com/envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost';
/** What Envoy Gateway sets where a `ClientTrafficPolicy` says nothing (envoy 16.2). */
const BUFFER_LIMIT = 32_768;

/** What resources of Envoy Gateway among these make of Envoy, in its own field names; null when there are none. */
export function envoyGatewayPatches(resources: readonly Tree[]): Tree | null {
  let envoy: PatchedEnvoy | null = null;
  for (const resource of resources) {
    const add = KINDS[textOf(member(resource, 'kind')) ?? ''];
    const spec = member(resource, 'spec');
    if (add === undefined || spec === null) continue;
    envoy ??= new PatchedEnvoy(resource.place);
    add(envoy, spec);
  }
  return envoy?.tree() ?? null;
}

const KINDS: Readonly<Record<string, (envoy: PatchedEnvoy, spec: Tree) => void>> = {
  EnvoyExtensionPolicy: (envoy, spec) => {
    for (const extProc of itemsOf(member(spec, 'extProc'))) envoy.addFilter(extProcFilter(extProc));
  },
  ClientTrafficPolicy: (envoy, spec) => {
    const { place } = spec;
    const limit = quantity(member(spec, 'connection', 'bufferLimit')) ?? scalarOf(place, BUFFER_LIMIT);
    envoy.add('listener', partOf(place, { per_connection_buffer_limit_bytes: limit }));
    envoy.add(
      'manager',
      partOf(place, {
        stream_idle_timeout: member(spec, 'timeout', 'http', 'streamIdleTimeout'),
        request_timeout: member(spec, 'timeout', 'http', 'requestReceivedTimeout'),
        early_header_mutation_extensions: listOf(place, [earlyRemovals(spec)]),
      }),
    );
  },
  BackendTrafficPolicy: (envoy, spec) => {
    const sources = itemsOf(member(spec, 'loadBalancer', 'endpointOverride', 'extractFrom'));
    if (sources.length > 0) envoy.addCluster('workers', overrideHost(sources, spec.place));
  },
  EnvoyPatchPolicy: (envoy, spec) => {
    for (const patch of itemsOf(member(spec, 'jsonPatches'))) addJsonPatch(envoy, patch);
  },
};

/** A direction that is left out is not sent; one that is there is wanted, and for a `response` no matter of defaults (T11). */
function extProcFilter(extProc: Tree): Tree {
  const { place } = extProc;
  const mode = member(extProc, 'processingMode');
  const direction = (name: string): { headers: Tree; body: Tree | null; trailers: Tree } => {
    const given = member(mode, name);
    const at = given?.place ?? place;
    const body = member(given, 'body');
    const duplex = textOf(body) === 'FullDuplexStreamed';
    return {
      headers: scalarOf(at, given === null ? 'SKIP' : 'SEND'),
      body: body === null ? scalarOf(at, 'NONE') : scalarOf(body.place, bodyMode(textOf(body) ?? '')),
      trailers: scalarOf(at, duplex ? 'SEND' : 'SKIP'),
    };
  };
  const request = direction('request');
  const response = direction('response');
  const namespaces = member(extProc, 'metadata', 'writableNamespaces');
  const config = partOf(place, {
    '@type': scalarOf(place, EXT_PROC),
    message_timeout: member(extProc, 'messageTimeout') ?? scalarOf(place, '0.2s'),
    // There is no field for it (envoy 16.2).
    max_message_timeout: scalarOf(place, '0s'),
    failure_mode_allow: member(extProc, 'failOpen') ?? scalarOf(place, false),
    allow_mode_override: member(mode, 'allowModeOverride') ?? scalarOf(place, false),
    metadata_options: wholeOf(place, { receiving_namespaces: wholeOf(place, { untyped: namespaces }) }),
    processing_mode: partOf(mode?.place ?? place, {
      request_header_mode: request.headers,
      response_header_mode: member(mode, 'response') === null ? response.headers : null,
      request_body_mode: request.body,
      response_body_mode: response.body,
      request_trailer_mode: request.trailers,
      response_trailer_mode: response.trailers,
    }),
  });
  return partOf(place, { name: scalarOf(place, 'ext_proc'), typed_config: config });
}

/** `FullDuplexStreamed` → `FULL_DUPLEX_STREAMED`. */
function bodyMode(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function earlyRemovals(spec: Tree): Tree | null {
  const removed = itemsOf(member(spec, 'headers', 'earlyRequestHeaders', 'remove'));
  if (removed.length === 0) return null;
  const mutations = removed.map((remove) => wholeOf(remove.place, { remove }));
  const config = wholeOf(spec.place, {
    '@type': scalarOf(spec.place, EARLY),
    mutations: listOf(spec.place, mutations),
  });
  return wholeOf(spec.place, { typed_config: config });
}

/** A policy that lets a header choose the endpoint; the rest of the cluster is the gateway's. */
function overrideHost(sources: readonly Tree[], place: Place): Tree {
  const config = partOf(place, {
    '@type': scalarOf(place, OVERRIDE),
    override_host_sources: listOf(place, sources),
  });
  const policy = partOf(place, { typed_extension_config: partOf(place, { typed_config: config }) });
  return partOf(place, { load_balancing_policy: partOf(place, { policies: listOf(place, [policy]) }) });
}

function addJsonPatch(envoy: PatchedEnvoy, patch: Tree): void {
  const value = member(patch, 'operation', 'value');
  if (value === null) return;
  const path = textOf(member(patch, 'operation', 'path')) ?? '';
  const steps = path.split('/').filter((step) => step !== '');
  const type = textOf(member(patch, 'type')) ?? '';
  // What is added to a list, or as a resource, is there whole; a member is a part of what it is added to.
  const whole = steps.length === 0 || isIndex(steps.at(-1) ?? '');
  const nested = steps.reduceRight<Tree>((inner, step) => wrapped(inner, step), whole ? value : asPatch(value));
  if (type.endsWith('.Cluster')) envoy.addCluster(textOf(member(patch, 'name')) ?? '', nested);
  else if (type.endsWith('.RouteConfiguration')) envoy.add('routeConfig', nested);
  else if (type.endsWith('.Listener')) addToListener(envoy, nested);
}

/** A step of a JSON pointer around a value: a number or `-` is a place in a list. */
function wrapped(inner: Tree, step: string): Tree {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return isIndex(step) ? listOf(inner.place, [inner]) : partOf(inner.place, { [name]: inner });
}

function isIndex(step: string): boolean {
  return /^(\d+|-)$/.test(step);
}

/** The filters of a listener go to its connection manager, of which a patch names no more than its place. */
function addToListener(envoy: PatchedEnvoy, listener: Tree): void {
  const [chain] = itemsOf(member(listener, 'filter_chains'));
  const [filter] = itemsOf(member(chain ?? null, 'filters'));
  const manager = member(filter ?? null, 'typed_config');
  if (manager === null) {
    envoy.add('listener', listener);
    return;
  }
  for (const one of itemsOf(member(manager, 'http_filters'))) envoy.addFilter(one);
  if (manager.kind !== 'map') return;
  const rest = [...manager.entries].filter(([name]) => name !== 'http_filters');
  envoy.add('manager', partOf(manager.place, Object.fromEntries(rest.map(([name, { value }]) => [name, value]))));
}

function quantity(tree: Tree | null): Tree | null {
  const bytes = parseQuantity(textOf(tree) ?? '');
  return tree === null || bytes === undefined ? null : scalarOf(tree.place, bytes);
}
