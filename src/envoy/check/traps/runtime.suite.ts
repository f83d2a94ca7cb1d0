import type { Row } from '../trap-rows.suite.ts';

/** Node's HTTP/2 server. */
const STOCK = ['--transport', 'grpc-js'];

export const RUNTIME_ROWS: readonly Row[] = [
  ['', 'no runtime layer', ({ config }) => delete config.layered_runtime],
  ['T1', 'no runtime layer, for grpc-js', () => undefined, [], STOCK],
  ['T1', 'the guard is off', ({ config }) => (config.layered_runtime.layers[0].static_layer = {}), STOCK],
  [
    'T1',
    'only an admin layer',
    ({ config }) => (config.layered_runtime.layers = [{ name: 'admin', admin_layer: {} }]),
    STOCK,
  ],
  [
    '',
    'the guard is nested',
    ({ config }) => {
      const layer = { envoy: { reloadable_features: { ext_proc_graceful_grpc_close: true } } };
      config.layered_runtime.layers[0].static_layer = layer;
    },
    STOCK,
  ],
  [
    'T2',
    'a guard that is gone',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.ext_proc_stream_close_optimization'] =
        false;
    },
    STOCK,
  ],
  [
    'T2',
    'another guard that is gone',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.reset_with_error'] = false;
    },
    STOCK,
  ],
  [
    '',
    'a guard that this Envoy has',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.reset_with_error'] = false;
    },
    STOCK,
    ['--envoy-version', '1.39'],
  ],
];
