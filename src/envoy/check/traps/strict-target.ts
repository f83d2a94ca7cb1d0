import { DESTINATION_KEY, DESTINATION_NAMESPACE, PICKER_NAMESPACE, STRICT_KEY } from '../../names.ts';
import { type ConfigNode, extensionOf } from '../config-node.ts';
import type { Asker, WorkerCluster } from '../subject/asker.ts';
import type { Flaw, Trap } from '../trap.ts';
import { workerClusters } from './askers.ts';

const OVERRIDE_HOST = 'typed_config of override_host';
const STRICT_SUBSET = `fallback_policy:
  policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.subset
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.subset.v3.Subset
          fallback_policy: ANY_ENDPOINT
          subset_selectors:
            - {keys: [${STRICT_KEY}, ${DESTINATION_KEY}], fallback_policy: NO_FALLBACK}
          subset_lb_policy:
            policies:
              - typed_extension_config:
                  name: envoy.load_balancing_policies.least_request
                  typed_config:
                    "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest`;

/** Requests that one worker is to serve, or none (envoy 6.6). */
export const STRICT_TARGET_TRAPS: readonly Trap[] = [
  {
    id: 'T52',
    level: 'error',
    levelBy:
      'a note where no request can name its worker (`--policy` other than `consistent_hashing`, no prefill and decode)',
    title: 'strict targets are not strict',
    consequence: 'A request for one worker only is served by another one.',
    into: 'typed_config of the ext_proc filter',
    cure: 'mutation_rules: {allow_envoy: true}',
    // envoy 6.6
    *find(subject, { strictTargets }) {
      const level = strictTargets ? ('error' as const) : ('note' as const);
      for (const flaw of laxTargets(subject.askers, workerClusters(subject))) yield { ...flaw, level };
    },
  },
];

function* laxTargets(askers: readonly Asker[], clusters: readonly WorkerCluster[]): Generator<Flaw> {
  for (const { config, kind } of askers) {
    if (kind !== 'ext_proc') continue;
    const rules = config.get('mutation_rules');
    const expression = rules.get('allow_expression', 'regex').text();
    if (rules.open || expression !== undefined) continue;
    const allowed = rules.get('allow_envoy');
    if (allowed.bool(false) === false) yield { at: rules.exists ? rules : config, found: 'allow_envoy is not true' };
  }
  for (const { overrideHost } of clusters) {
    if (overrideHost === null) continue;
    const fallback = overrideHost.node.get('fallback_policy');
    if (!fallback.exists) continue;
    if (!keepsStrict(fallback)) {
      const into = OVERRIDE_HOST;
      yield { at: fallback, found: 'the fallback has no subset for them', cure: STRICT_SUBSET, into };
      continue;
    }
    const served = overrideHost.node.get('selected_host_key');
    if (served.get('key').text() !== DESTINATION_NAMESPACE) continue;
    yield {
      at: served,
      found: `selected_host_key adds a key to ${DESTINATION_NAMESPACE}`,
      cure: `selected_host_key: {key: ${PICKER_NAMESPACE}, path: [{key: served}]}`,
      into: OVERRIDE_HOST,
    };
  }
}

const SUBSET_FALLBACKS = ['NO_FALLBACK', 'ANY_ENDPOINT', 'DEFAULT_SUBSET'];

/** A subset policy that finds nothing for requests that are strict. */
function keepsStrict(fallback: ConfigNode): boolean {
  return fallback
    .get('policies')
    .items()
    .some((policy) => {
      const { type, config } = extensionOf(policy.get('typed_extension_config'));
      if (!type.endsWith('.Subset')) return false;
      if (config.get('fallback_policy').choice(SUBSET_FALLBACKS, 'NO_FALLBACK') === 'NO_FALLBACK') return true;
      return config
        .get('subset_selectors')
        .items()
        .some((selector) => {
          const keys = new Set(selector.get('keys').texts());
          // By ext_authz the destination stands in another namespace.
          const exact = keys.has(STRICT_KEY) && (keys.size === 1 || (keys.size === 2 && keys.has(DESTINATION_KEY)));
          return exact && selector.get('fallback_policy').choice(['NOT_DEFINED', 'NO_FALLBACK']) === 'NO_FALLBACK';
        });
    });
}
