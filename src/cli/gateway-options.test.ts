import { describe, expect, it } from 'vitest';
import { loadSettings } from '../config/load-settings.ts';
import type { GatewayMode } from '../envoy/gateways/options.ts';
import { bootstrapOptions } from './bootstrap-options.ts';
import { gatewayOptions } from './gateway-options.ts';

const FLAGS = { namespace: 'llm', image: 'i', gateway: null, gatewaySelector: 'a=b', workerService: 'w:1' };
const PODS = { service_discovery: true, service_discovery_port: 8000 };
const PD = { pd_disaggregation: true, prefill_selector: ['leg=prefill'], decode_selector: ['leg=decode', 'app=x'] };

function optionsOf(mode: GatewayMode, settings: object) {
  const text = JSON.stringify(settings);
  const loaded = loadSettings({ flags: [], env: { SMG_CONFIG: 'c.yaml' }, readFile: () => text });
  const envoy = bootstrapOptions(
    {
      mode: 'ext-proc',
      listen: '127.0.0.1:8080',
      picker: [],
      adminListen: null,
      fail: null,
      staticWorkers: false,
      envoyVersion: '1.38',
    },
    loaded,
  );
  return gatewayOptions(mode, FLAGS, loaded, envoy, () => text);
}

describe('the pods of an InferencePool', () => {
  it('are the worker pods', () => {
    const { workload } = optionsOf('gateway-api', { ...PODS, selector: ['app=vllm', 'tier=1'] });

    expect(workload.pods?.labels).toEqual({ app: 'vllm', tier: '1' });
  });

  it('decisions 27: are the decode pods, which requests go to, where prefill and decode are apart', () => {
    const { workload } = optionsOf('gateway-api', { ...PODS, ...PD });

    expect(workload.pods?.labels).toEqual({ leg: 'decode', app: 'x' });
  });

  it('must be named: a pool without labels would have every pod of its namespace', () => {
    const { decode_selector: _, ...prefillOnly } = PD;

    expect(() => optionsOf('gateway-api', { ...PODS, ...prefillOnly })).toThrow(
      '--mode gateway-api: give the labels of the decode pods with --decode-selector',
    );
  });
});

describe('decisions 27: prefills that the service sends', () => {
  it('have no time in Envoy Gateway, which has no field for it', () => {
    expect(() => optionsOf('envoy-gateway', { ...PODS, ...PD })).toThrow('--pd-dispatch service: not with');
    expect(optionsOf('envoy-gateway', { ...PODS, ...PD, pd_dispatch: 'header' }).mode).toBe('envoy-gateway');
    expect(optionsOf('istio', { ...PODS, ...PD }).mode).toBe('istio');
  });
});

describe('TLS on the gRPC port', () => {
  it.each(['istio', 'envoy-gateway', 'gateway-api'] as const)('is not in the manifests of %s, and refused', (mode) => {
    const tls = { selector: ['app=vllm'], tls_cert_path: '/tls.crt', tls_key_path: '/tls.key' };

    expect(() => optionsOf(mode, { ...PODS, ...tls })).toThrow(`--tls-cert-path: not with --mode ${mode}`);
  });
});
