import { DESTINATION_NAMESPACE, PICKER_NAMESPACE } from '../../names.ts';
import type { ConfigNode } from '../config-node.ts';
import { overridesOf } from '../subject/routes.ts';
import type { Trap } from '../trap.ts';
import { neededNamespaces, processors } from './askers.ts';

const NAMESPACES = `metadata_options:
  receiving_namespaces:
    untyped: [${DESTINATION_NAMESPACE}, ${PICKER_NAMESPACE}]`;

/** Which metadata Envoy takes from the service (envoy 5.4). */
export const METADATA_TRAPS: readonly Trap[] = [
  {
    id: 'T18',
    level: 'error',
    title: 'metadata of the service is not received',
    consequence: 'Envoy drops the pick, or its id, and only a debug log says so.',
    into: 'typed_config of the ext_proc filter',
    cure: NAMESPACES,
    // envoy 5.4
    *find(subject, settings) {
      for (const asker of processors(subject)) {
        const list = asker.config.get('metadata_options', 'receiving_namespaces', 'untyped');
        const lacking = lackingIn(list, neededNamespaces(subject, asker, settings));
        if (lacking.length > 0) yield { at: list, found: `namespace ${lacking.join(', ')}` };
      }
    },
  },
  {
    id: 'T19',
    level: 'error',
    title: 'a route receives other metadata than that of the service',
    consequence: 'The list of the route replaces that of the filter: Envoy drops the pick, or its id.',
    into: 'overrides of the ext_proc configuration of the route',
    cure: NAMESPACES,
    // envoy 4.1
    remark: 'A route that only forwards other metadata keeps the list of the filter (tried with Envoy 1.40).',
    *find(subject, settings) {
      for (const asker of processors(subject)) {
        const needed = neededNamespaces(subject, asker, settings);
        const seen = new Set<unknown>();
        for (const overrides of asker.routes.flatMap((route) => overridesOf(route, asker.filter.name))) {
          const receiving = overrides.get('metadata_options', 'receiving_namespaces');
          if (!receiving.exists || seen.has(receiving.tree)) continue;
          seen.add(receiving.tree);
          const list = receiving.get('untyped');
          const lacking = lackingIn(list, needed);
          if (lacking.length > 0) yield { at: list, found: `namespace ${lacking.join(', ')}` };
        }
      }
    },
  },
];

function lackingIn(list: ConfigNode, needed: readonly string[]): readonly string[] {
  if (list.open) return [];
  const given = list.texts();
  return needed.filter((name) => !given.includes(name));
}
