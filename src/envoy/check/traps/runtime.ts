import type { ConfigNode } from '../config-node.ts';
import type { Trap } from '../trap.ts';
import { processors } from './askers.ts';

const GRACEFUL_CLOSE = 'envoy.reloadable_features.ext_proc_graceful_grpc_close';
const REMOVED_GUARDS = ['ext_proc_stream_close_optimization', 'reset_with_error'];

export const RUNTIME_TRAPS: readonly Trap[] = [
  {
    id: 'T1',
    level: 'error',
    title: 'ext_proc streams end with a reset',
    consequence:
      "Node's HTTP/2 server drops a connection after about 1,000 resets, and requests on it get 500 or lose their pick.",
    into: 'the bootstrap',
    cure: `layered_runtime:
  layers:
    - name: static
      static_layer:
        ${GRACEFUL_CLOSE}: true`,
    remark: 'Only with `--transport grpc-js`: the default transport takes any number of resets.',
    // envoy 3.3
    *find(subject, { nodeHttp2 }) {
      if (!nodeHttp2 || processors(subject).length === 0) return;
      for (const bootstrap of subject.bootstraps) {
        const runtime = bootstrap.get('layered_runtime');
        const at = runtime.exists ? runtime.get('layers') : runtime;
        if (at.open || runtime.partial) continue;
        if (runtimeKeys(bootstrap).some(({ name, node }) => name === GRACEFUL_CLOSE && node.bool() === true)) continue;
        yield { at };
      }
    },
  },
  {
    id: 'T2',
    level: 'warning',
    title: 'the runtime sets a guard that Envoy 1.40 does not have',
    consequence: 'It has no effect, and a later Envoy refuses the file.',
    into: 'the layer of layered_runtime',
    cure: '# delete the line; to hold streams until the response has ended, set response_trailer_mode: SEND',
    // envoy 3.2
    *find(subject, { envoyMinor }) {
      if (envoyMinor < 40) return;
      for (const { name, node } of subject.bootstraps.flatMap(runtimeKeys)) {
        const guard = name.slice(name.lastIndexOf('.') + 1);
        if (REMOVED_GUARDS.includes(guard)) yield { at: node, found: guard };
      }
    },
  },
];

/** Keys of the static layers, written with dots or nested. */
function runtimeKeys(bootstrap: ConfigNode): readonly { readonly name: string; readonly node: ConfigNode }[] {
  const layers = bootstrap.get('layered_runtime', 'layers').items();
  return layers.flatMap((layer) => leaves(layer.get('static_layer'), ''));
}

function leaves(node: ConfigNode, prefix: string): { readonly name: string; readonly node: ConfigNode }[] {
  return node.entries().flatMap(([key, value]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return value.tree?.kind === 'map' ? leaves(value, name) : [{ name, node: value }];
  });
}
