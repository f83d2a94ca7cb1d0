import type { BootstrapOptions } from '../bootstrap/options.ts';
import type { GatewayOptions } from './options.ts';

/** Envoy at its defaults; the parts that no gateway uses are out of the ordinary. */
export const ENVOY: BootstrapOptions = {
  mode: 'ext-proc',
  upstream: { http2: false, tls: null, grpc: false },
  listen: { kind: 'tcp', host: '203.0.113.1', port: 1 },
  pickers: [{ kind: 'tcp', host: '203.0.113.2', port: 2 }],
  failClosed: false,
  admin: null,
  staticWorkers: null,
  staticHealth: null,
  envoy: '1.38',
  bodyLimitBytes: 16_777_216,
  retry: { attempts: 5, initialBackoffMs: 50, maxBackoffMs: 30_000, onReset: true, connectFailureOnly: false },
  requestTimeoutSecs: null,
  hiddenHeaders: ['authorization', 'cookie'],
  destinationHeader: null,
  stamp: true,
  dpAware: false,
  disaggregated: false,
  mirrorsPrefills: false,
  prefillTimeoutSecs: 58,
  decisionHeader: false,
  authzBody: false,
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
