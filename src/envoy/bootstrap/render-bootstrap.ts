import { PICKER_CLUSTER } from '../names.ts';
import { envoyAddress, showAddress } from './address.ts';
import { commentedYaml } from './commented-yaml.ts';
import { listener } from './listener.ts';
import type { BootstrapOptions } from './options.ts';
import { pickerClusters } from './picker-clusters.ts';
import { prefillCluster } from './prefill-cluster.ts';
import type { Config } from './typed.ts';
import { workerClusters } from './worker-cluster.ts';

/** A whole Envoy bootstrap as YAML, the recommended configuration of envoy 2.2. */
export function renderBootstrap(options: BootstrapOptions): string {
  return commentedYaml({
    '#': headline(options),
    node: { id: 'smg-envoy', cluster: 'smg-envoy' },
    ...(options.admin === null ? {} : { admin: { address: envoyAddress(options.admin) } }),
    ...(options.mode === 'ext-authz' || !options.nodeHttp2 ? {} : RUNTIME),
    ...(options.staticWorkers === null ? { dynamic_resources: DYNAMIC } : {}),
    static_resources: {
      listeners: [listener(options)],
      clusters: [
        ...workerClusters(options),
        ...(options.mirrorsPrefills ? [prefillCluster(options)] : []),
        ...pickerClusters(options),
      ],
    },
  });
}

/** Runtime guards that Envoy reads when it starts: it then ends its streams instead of resetting them (envoy 3.2). */
export const STATIC_RUNTIME: Config = {
  'envoy.reloadable_features.ext_proc_graceful_grpc_close': true,
  'envoy.filters.http.ext_proc.remote_close_timeout_milliseconds': 5000,
};

const RUNTIME: Config = {
  '# layered_runtime': [
    "Lets the service finish its streams. Envoy's default is to reset each one, and a server on Node's HTTP/2",
    'drops the whole connection after about a thousand resets.',
  ].join('\n'),
  layered_runtime: { layers: [{ name: 'static', static_layer: STATIC_RUNTIME }] },
};

const DYNAMIC: Config = {
  '# ads_config': 'the service is asked for endpoints only; everything else stands here',
  ads_config: {
    api_type: 'GRPC',
    transport_api_version: 'V3',
    set_node_on_first_message_only: true,
    '# grpc_services': "a service that comes back is found within a second; Envoy's own back-off grows to 30 s",
    grpc_services: [
      {
        envoy_grpc: {
          cluster_name: PICKER_CLUSTER,
          retry_policy: { retry_back_off: { base_interval: '0.5s', max_interval: '1s' } },
        },
      },
    ],
  },
};

function headline(options: BootstrapOptions): string {
  const release = options.envoy === '1.38' ? '1.38 or later' : options.envoy;
  const role = options.mode === 'ext-authz' ? 'authorization service' : 'external processor';
  return [
    `Envoy ${release} with smg-envoy as the ${role} that places requests. Made by \`smg-envoy envoy-config\`.`,
    `Clients: ${showAddress(options.listen)}. Service: ${options.pickers.map(showAddress).join(', ')}.`,
  ].join('\n');
}
