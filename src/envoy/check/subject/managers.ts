import { type ConfigNode, extensionOf } from '../config-node.ts';
import type { NotJudged } from '../not-judged.ts';

/** Configurations of the HTTP connection managers of a listener. */
export function managersOf(listener: ConfigNode): readonly ConfigNode[] {
  const chains = [...listener.get('filter_chains').items(), listener.get('default_filter_chain')];
  return chains.flatMap((chain) =>
    chain
      .get('filters')
      .items()
      .flatMap((filter) => {
        const { type, config } = extensionOf(filter);
        return type.endsWith('.HttpConnectionManager') ? [config] : [];
      }),
  );
}

/** The routes of a connection manager: its own, or those of that name in the files. */
export function routeConfigsOf(
  manager: ConfigNode,
  named: readonly ConfigNode[],
): { readonly configs: readonly ConfigNode[]; readonly missing: NotJudged | null } {
  const own = manager.get('route_config');
  if (own.exists) return { configs: [own], missing: null };
  const rds = manager.get('rds');
  const scoped = manager.get('scoped_routes');
  if (!rds.exists && !scoped.exists) return { configs: [], missing: null };
  const name = rds.get('route_config_name').text();
  const configs = named.filter((config) => config.get('name').text() === name);
  if (configs.length > 0) return { configs, missing: null };
  const reason = `routes come from a control plane${name === undefined ? '' : ` (${name})`}, and none of the files has them`;
  return { configs, missing: { place: (rds.exists ? rds : scoped).place, reason } };
}
