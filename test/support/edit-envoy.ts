import { parse, stringify } from 'yaml';

/** The parts of our own bootstrap that a test plays an operator with. */
export interface EditableEnvoy {
  /** Configuration of the ext_proc filter. */
  readonly extProc: Record<string, unknown>;
  /** Configuration of the HTTP connection manager. */
  readonly manager: Record<string, unknown>;
}

export type EnvoyChange = (envoy: EditableEnvoy) => void;

interface Filter {
  readonly name: string;
  readonly typed_config: Record<string, unknown>;
}

interface Listener {
  name: string;
  readonly address: { readonly socket_address: { port_value: number } };
  readonly filter_chains: readonly { readonly filters: readonly Filter[] }[];
}

/** Our own configuration after an operator's change. */
export function editEnvoy(yaml: string, change: EnvoyChange): string {
  const config = parse(yaml);
  change(editable(config.static_resources.listeners[0]));
  return stringify(config, { aliasDuplicateObjects: false });
}

/** Envoy hands requests over in this way. @param override the service may ask for the body */
export function processBy(processing: Readonly<Record<string, string>>, override: boolean): EnvoyChange {
  return ({ extProc }) => {
    delete extProc['allowed_override_modes'];
    Object.assign(extProc, { processing_mode: processing, allow_mode_override: override });
    if (!override) return;
    const allowed = { ...processing, request_body_mode: 'BUFFERED_PARTIAL', response_body_mode: 'NONE' };
    extProc['allowed_override_modes'] = [allowed];
  };
}

/** One Envoy that has our listener once for each of some changes, at ports that follow each other. */
export function withListeners<N extends string>(
  yaml: string,
  firstPort: number,
  changes: Readonly<Record<N, EnvoyChange>>,
): { readonly yaml: string; readonly urls: Readonly<Record<N, string>> } {
  const config = parse(yaml);
  const { static_resources: resources } = config;
  const text = JSON.stringify(resources.listeners[0]);
  const urls: Partial<Record<N, string>> = {};
  resources.listeners = (Object.keys(changes) as N[]).map((name, index) => {
    const listener: Listener = JSON.parse(text);
    listener.name = name;
    listener.address.socket_address.port_value = firstPort + index;
    urls[name] = `http://127.0.0.1:${firstPort + index}`;
    changes[name](editable(listener));
    return listener;
  });
  return { yaml: stringify(config, { aliasDuplicateObjects: false }), urls: urls as Record<N, string> };
}

function editable({ filter_chains: [chain] }: Listener): EditableEnvoy {
  const manager = chain?.filters[0]?.typed_config as { http_filters: readonly Filter[] } & Record<string, unknown>;
  const extProc = manager.http_filters.find(({ name }) => name === 'envoy.filters.http.ext_proc');
  return { manager, extProc: extProc?.typed_config ?? {} };
}
