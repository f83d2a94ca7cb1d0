import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RetryOptions } from '../bootstrap/options.ts';
import { STATIC_RUNTIME } from '../bootstrap/render-bootstrap.ts';
import { envoyGateway } from './envoy-gateway.ts';
import { ENVOY, gateway } from './fixture.suite.ts';
import { duration } from './http-route.ts';
import { inferencePool } from './inference-pool.ts';
import type { GatewayOptions, Reference } from './options.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into manifests of any kind
function kinds(change: Partial<GatewayOptions> = {}): Record<string, any> {
  const made = envoyGateway(gateway({ mode: 'envoy-gateway', ...change }));
  return Object.fromEntries(made.map((one) => [one['kind'], one]));
}

describe('envoy 16.2 the policies of Envoy Gateway', () => {
  it('carry the destination in a header that no client can set', () => {
    const envoy = { ...ENVOY, destinationHeader: 'x-to' };
    const made = kinds({ envoy });

    expect(made['BackendTrafficPolicy'].spec.loadBalancer.endpointOverride.extractFrom).toEqual([{ header: 'x-to' }]);
    expect(made['ClientTrafficPolicy'].spec.headers.earlyRequestHeaders.remove).toContain('x-to');
  });

  it('envoy T22: the route does not remove that header, which would come before the choice', () => {
    const [filter] = kinds()['HTTPRoute'].spec.rules[0].filters;

    expect(filter.requestHeaderModifier.remove).toContain('x-smg-target-worker');
    expect(filter.requestHeaderModifier.remove).not.toContain('x-gateway-destination-endpoint');
  });

  it.each([
    [false, { failOpen: true, statusOnError: undefined }],
    [true, { failOpen: false, statusOnError: 503 }],
  ])('fail closed %s', (failClosed, wanted) => {
    const [made] = kinds({ envoy: { ...ENVOY, failClosed } })['EnvoyExtensionPolicy'].spec.extProc;

    expect({ failOpen: made.failOpen, statusOnError: made.statusOnError }).toEqual(wanted);
  });

  it('the response phase is there for the stamp alone', () => {
    const mode = (stamp: boolean) =>
      kinds({ envoy: { ...ENVOY, stamp } })['EnvoyExtensionPolicy'].spec.extProc[0].processingMode;

    expect(mode(true).response.attributes).toEqual(['upstream.address', 'response.code_details']);
    expect(mode(false).response).toBeUndefined();
  });

  it("envoy 3.3: the proxies get the runtime guard where the service speaks Node's HTTP/2, and no bootstrap else", () => {
    const { bootstrap } = kinds({ envoy: { ...ENVOY, nodeHttp2: true } })['EnvoyProxy'].spec;

    expect(bootstrap.type).toBe('Merge');
    expect(parse(bootstrap.value).layered_runtime.layers[0].static_layer).toEqual(STATIC_RUNTIME);
    expect(kinds()['EnvoyProxy'].spec.bootstrap).toBeUndefined();
  });

  it.each<[Partial<RetryOptions>, object]>([
    [
      {},
      {
        numRetries: 4,
        retryOn: { triggers: ['connect-failure', 'refused-stream', 'reset', 'retriable-status-codes'] },
      },
    ],
    [{ onReset: false }, { retryOn: { triggers: expect.arrayContaining(['reset-before-request']) } }],
    [{ connectFailureOnly: true }, { retryOn: { triggers: ['connect-failure'] } }],
    [{ attempts: 1 }, { numRetries: 0 }],
    [{ maxBackoffMs: 1 }, { perRetry: { backOff: { baseInterval: '50ms', maxInterval: '50ms' } } }],
  ])('decisions 31: retries %j', (change, wanted) => {
    const made = kinds({ envoy: { ...ENVOY, retry: { ...ENVOY.retry, ...change } } });

    expect(made['BackendTrafficPolicy'].spec.retry).toMatchObject(wanted);
  });

  it.each<[Reference, string, string[]]>([
    [{ namespace: 'smg', name: 'g' }, 'smg', []],
    [{ namespace: 'smg', name: 'g' }, 'models', ['models: HTTPRoute of smg']],
    [{ namespace: 'edge', name: 'g' }, 'models', ['models: HTTPRoute of smg', 'smg: EnvoyProxy of edge']],
  ])('gateway %j, workers in %s: references that leave their namespace are granted', (at, workers, wanted) => {
    const made = envoyGateway(gateway({ gateway: at, workers: { namespace: workers, name: 'vllm', port: 1 } }));
    const grants = made.filter((one) => one['kind'] === 'ReferenceGrant') as unknown as {
      metadata: { namespace: string };
      spec: { from: { kind: string; namespace: string }[] };
    }[];

    expect(
      grants.map(({ metadata, spec: { from } }) => `${metadata.namespace}: ${from[0]!.kind} of ${from[0]!.namespace}`),
    ).toEqual(wanted);
  });
});

describe('durations of the Gateway API', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [50.2, '51ms'],
    [30_000, '30s'],
    [90_061_001, '25h1m1s1ms'],
    [4_294_967_295, '1193h2m47s295ms'],
    [4_294_967_295_000, '99999h28m15s'],
  ])('%d ms: %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
    expect(text).toMatch(/^([0-9]{1,5}(h|m|s|ms)){1,4}$/);
  });
});

describe('endpoint-picker-protocol 1 the InferencePool', () => {
  it.each([
    [false, 'FailOpen'],
    [true, 'FailClose'],
  ])('fail closed %s: %s', (failClosed, failureMode) => {
    const [pool] = inferencePool(gateway({ mode: 'gateway-api', envoy: { ...ENVOY, failClosed } }));

    expect(pool).toMatchObject({
      metadata: { namespace: 'smg' },
      spec: {
        selector: { matchLabels: { app: 'vllm' } },
        targetPorts: [{ number: 8000 }],
        endpointPickerRef: { kind: 'Service', name: 'smg-envoy', port: { number: 9002 }, failureMode },
      },
    });
  });
});
