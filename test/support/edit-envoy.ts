import { parse, stringify } from 'yaml';

/** The parts of our own bootstrap that a test plays an operator with. */
export interface EditableEnvoy {
  /** Configuration of the ext_proc filter. */
  readonly extProc: Record<string, unknown>;
  /** Configuration of the HTTP connection manager. */
  readonly manager: Record<string, unknown>;
}

interface Filter {
  readonly name: string;
  readonly typed_config: Record<string, unknown>;
}

/** Our own configuration after an operator's change. */
export function editEnvoy(yaml: string, change: (envoy: EditableEnvoy) => void): string {
  const config = parse(yaml);
  const manager = config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const extProc = manager.http_filters.find((filter: Filter) => filter.name === 'envoy.filters.http.ext_proc');
  change({ manager, extProc: extProc.typed_config });
  return stringify(config, { aliasDuplicateObjects: false });
}
