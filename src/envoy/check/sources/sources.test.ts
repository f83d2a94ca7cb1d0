import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { generated, settingsFor } from '../../../../test/support/envoy-check.ts';
import { checkEnvoy } from '../check-envoy.ts';

function found(
  resources: string | readonly object[],
  flags: readonly string[] = ['--policy', 'round_robin'],
): readonly string[] {
  const text = typeof resources === 'string' ? resources : resources.map((one) => stringify(one)).join('---\n');
  const { problems, findings, notJudged } = checkEnvoy([{ name: 'a.yaml', text }], settingsFor(flags));
  return [...problems, ...findings.map(({ trap }) => trap), ...notJudged.map(({ reason }) => reason)];
}

const EXT_PROC = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor';
const NODE_HTTP2 = ['--policy', 'round_robin', '--transport', 'grpc-js'];
const RUNTIME = expect.stringContaining('ext_proc_graceful_grpc_close (T1) stands elsewhere');

/** A filter without a flaw, as it is added to the chain of a gateway. */
const FILTER = {
  name: 'smg',
  typed_config: {
    '@type': EXT_PROC,
    grpc_service: { envoy_grpc: { cluster_name: 'outbound|9002||smg.llm.svc.cluster.local', authority: 'picker' } },
    failure_mode_allow: true,
    message_timeout: '5s',
    processing_mode: { response_header_mode: 'SKIP' },
    forward_rules: { disallowed_headers: { patterns: [{ exact: 'authorization' }, { exact: 'cookie' }] } },
    mutation_rules: { allow_envoy: true },
    metadata_options: { receiving_namespaces: { untyped: ['envoy.lb', 'picker'] } },
  },
};

const patchOf = (applyTo: string, operation: string, value: object, match: object = {}) => {
  return { applyTo, match, patch: { operation, value } };
};
const envoyFilter = (...configPatches: object[]) => ({
  apiVersion: 'networking.istio.io/v1alpha3',
  kind: 'EnvoyFilter',
  spec: { configPatches },
});
const service = { service: 'smg.llm.svc.cluster.local', portNumber: 9002 };

describe('EnvoyFilter of Istio', () => {
  it('a filter alone: what stands elsewhere is not judged', () => {
    const alone = [envoyFilter(patchOf('HTTP_FILTER', 'INSERT_BEFORE', FILTER))];
    const cluster = 'cluster outbound|9002||smg.llm.svc.cluster.local (the service) is in none of the files';

    expect(found(alone)).toEqual([expect.stringContaining(cluster)]);
    expect(found(alone, NODE_HTTP2)).toEqual([RUNTIME, expect.stringContaining(cluster)]);
  });

  it.each([
    ['T53', patchOf('NETWORK_FILTER', 'MERGE', { typed_config: { use_remote_address: false } })],
    ['T14', patchOf('LISTENER', 'MERGE', { per_connection_buffer_limit_bytes: 32768 })],
    ['T36', patchOf('HTTP_ROUTE', 'REPLACE', { route: { cluster: 'llm' } })],
    ['T39', patchOf('HTTP_ROUTE', 'MERGE', { route: { retry_policy: { retry_on: '5xx' } } })],
    [
      'T27',
      patchOf('CLUSTER', 'MERGE', { circuit_breakers: { thresholds: [{ max_requests: 100 }] } }, { cluster: service }),
    ],
    [
      'T35',
      patchOf(
        'CLUSTER',
        'MERGE',
        { common_lb_config: { healthy_panic_threshold: { value: 0 } } },
        { cluster: service },
      ),
    ],
    [
      'T2',
      patchOf('BOOTSTRAP', 'MERGE', {
        layered_runtime: { layers: [{ static_layer: { 'a.reset_with_error': true } }] },
      }),
    ],
  ])('%s in a patch', (trap, patch) => {
    const expected = trap === 'T36' ? [] : [trap];

    expect(
      found([envoyFilter(patchOf('HTTP_FILTER', 'INSERT_FIRST', FILTER), patch)]).filter((id) => /^T\d/.test(id)),
    ).toEqual(expected);
  });

  it('a cluster that is added is there whole', () => {
    const name = 'outbound|9002||smg.llm.svc.cluster.local';
    const added = patchOf('CLUSTER', 'ADD', { name, type: 'STRICT_DNS' });

    expect(found([envoyFilter(patchOf('HTTP_FILTER', 'INSERT_FIRST', FILTER), added)])).toEqual(
      expect.arrayContaining(['T27', 'T28']),
    );
  });

  it('a list, as kubectl prints it, with other resources in it', () => {
    const items = [
      { apiVersion: 'v1', kind: 'Service' },
      envoyFilter(
        patchOf('HTTP_FILTER', 'ADD', {
          ...FILTER,
          typed_config: { ...FILTER.typed_config, observability_mode: true },
        }),
      ),
    ];

    expect(found([{ apiVersion: 'v1', kind: 'List', items }])).toContain('T55');
  });

  it('the runtime guard in an annotation counts', () => {
    const pods = {
      metadata: { annotations: { 'proxy.istio.io/config': 'runtimeValues: {ext_proc_graceful_grpc_close: "true"}' } },
    };
    const annotated = { ...envoyFilter(patchOf('HTTP_FILTER', 'ADD', FILTER)), ...pods };

    expect(found([annotated], NODE_HTTP2)).not.toContainEqual(RUNTIME);
  });
});

describe('resources of Envoy Gateway', () => {
  const policy = (extProc: object) => ({
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'EnvoyExtensionPolicy',
    spec: { extProc: [extProc] },
  });
  const fine = { messageTimeout: '5s', failOpen: true, metadata: { writableNamespaces: ['envoy.lb', 'picker'] } };
  const traps = (...resources: object[]): readonly string[] => found(resources).filter((id) => /^T\d/.test(id));

  it.each([
    [{ ...fine, processingMode: { request: {} } }, []],
    [{ ...fine, processingMode: { request: {}, response: {} } }, []],
    [{ ...fine, messageTimeout: undefined, processingMode: { request: {} } }, ['T29']],
    [{ ...fine, processingMode: { request: { body: 'Streamed' } } }, ['T8']],
    [{ ...fine, processingMode: { request: {}, response: { body: 'Buffered' } } }, ['T12']],
    [{ ...fine, processingMode: { request: { body: 'FullDuplexStreamed' } } }, ['T10']],
    [{ ...fine, metadata: {}, processingMode: { request: {} } }, ['T18']],
  ])('%j: %j', (extProc, expected) => {
    expect(traps(policy(extProc))).toEqual(expected);
  });

  it('has no time for a prefill of the service: there is no field for it', () => {
    const pd = ['--pd-disaggregation', '--prefill', 'http://10.0.0.1:8000', '--decode', 'http://10.0.0.2:8000'];
    const processingMode = { request: {}, allowModeOverride: true };

    expect(found([policy({ ...fine, processingMode })], pd)).toContain('T79');
  });

  it('a buffer as a quantity', () => {
    const traffic = (connection: object) => ({ apiVersion: 'a', kind: 'ClientTrafficPolicy', spec: { connection } });
    const given = policy({ ...fine, processingMode: { request: {} } });

    expect(traps(given, traffic({ bufferLimit: '16Mi' }))).toEqual([]);
    expect(traps(given, traffic({ bufferLimit: '50Ki' }))).toEqual(['T14']);
    expect(traps(given, traffic({}))).toEqual(['T14']);
  });

  it("settings of the service in a ConfigMap are the service's", async () => {
    const manifests = await generated(['--mode', 'envoy-gateway']);

    expect(found(manifests, [])).toEqual([]);
    expect(found(manifests.replace('destination_header:', 'other_header:'), [])).toContain('T21');
  });
});

describe('GatewayExtension of kgateway', () => {
  it('fails open by itself, receives no metadata, and has 200 ms', () => {
    const extProc = { processingMode: { responseHeaderMode: 'SKIP' } };

    const extension = [{ apiVersion: 'a', kind: 'GatewayExtension', spec: { extProc } }];

    expect(found(extension)).toEqual(['T18', 'T29']);
    expect(found(extension, NODE_HTTP2)).toEqual(['T18', 'T29', RUNTIME]);
  });
});

describe('a ConfigMap', () => {
  it('with a bootstrap as text is told to be given apart', () => {
    const data = { 'envoy.yaml': 'admin: {}\nstatic_resources:\n  clusters: []\n' };

    expect(found([{ apiVersion: 'v1', kind: 'ConfigMap', data }])).toEqual([
      'a.yaml:4:15: a bootstrap stands here as text: give it as a file of its own',
    ]);
  });
});

describe('resources that leave Envoy to their gateway', () => {
  it('are named and not judged', () => {
    expect(found([{ apiVersion: 'a', kind: 'InferencePool', spec: {} }])).toEqual([
      'no resource here configures Envoy: that is left to the gateway',
    ]);
  });
});
