import { DEFAULTS } from '../bootstrap/fixture.suite.ts';
import type { BootstrapOptions } from '../bootstrap/options.ts';
import type { GatewayOptions } from './options.ts';

/** The parts that no gateway uses are out of the ordinary. */
export const ENVOY: BootstrapOptions = {
  ...DEFAULTS,
  listen: { kind: 'tcp', host: '203.0.113.1', port: 1 },
  pickers: [{ kind: 'tcp', host: '203.0.113.2', port: 2 }],
};

export function gateway(change: Partial<GatewayOptions> = {}): GatewayOptions {
  return {
    mode: 'istio',
    workload: {
      namespace: 'smg',
      image: 'smg-envoy:1',
      config: { policy: 'round_robin' },
      pods: { namespace: 'models', labels: { app: 'vllm' }, port: 8000 },
      shutdownGraceSecs: 180,
    },
    envoy: ENVOY,
    gateway: { namespace: 'edge', name: 'main' },
    gatewayPods: { istio: 'edge' },
    workers: { namespace: 'models', name: 'vllm', port: 8000 },
    ...change,
  };
}
