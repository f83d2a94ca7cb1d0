import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kubeSchemas, kubeTools } from '../support/kube-downloads.ts';
import { missing } from '../support/require.ts';
import { type KubeObject, schemaProblems } from '../support/schema-check.ts';
import { envoyConfig } from '../support/services.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kustomize = join(root, 'deploy/kustomize');
const chart = join(root, 'deploy/helm/smg-envoy');

const [schemas, tools] = await Promise.allSettled([kubeSchemas(), kubeTools()]);
const without = (got: PromiseSettledResult<unknown>): boolean =>
  missing('crds', got.status === 'rejected' ? String(got.reason) : undefined);

function objects(yaml: string): KubeObject[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((one) => one !== null);
}

function problems(found: readonly KubeObject[]): string[] {
  const known = schemas.status === 'fulfilled' ? schemas.value : { kinds: {}, definitions: {} };
  return found.flatMap((one) => schemaProblems(one, known));
}

/** What of Kubernetes an object is, so that none comes twice. */
const nameOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  `${apiVersion} ${kind} ${metadata.namespace}/${metadata.name}`;

const PODS = ['--service-discovery', '--selector', 'app=vllm', '--service-discovery-port', '8000'];
const VARIANTS: Record<string, string[]> = {
  'at their defaults': [],
  'in other namespaces': ['--namespace', 'a', '--gateway', 'b/c', '--worker-service', 'd.e:1'],
  'fail closed': ['--fail', 'closed'],
  'smallest values': ['--retry-max-retries', '1', '--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '1'],
  'largest values': ['--retry-max-backoff-ms', '4294967295', '--request-timeout-secs', '4294967295'],
  'other body limit and headers': ['--envoy-body-limit', '1', '--destination-header', 'x-to', '--decision-header'],
  'no stamp, no retries': ['--routed-worker-id', 'off', '--disable-retries'],
};

describe.skipIf(without(schemas))('the manifests of envoy-config fit the schemas of their kinds', () => {
  const rows = ['istio', 'envoy-gateway', 'gateway-api'].flatMap((mode) =>
    Object.entries(VARIANTS).map(([name, flags]) => ({ mode, name, flags })),
  );

  it.each(rows)('$mode, $name', async ({ mode, flags }) => {
    const pods = mode === 'gateway-api' ? PODS : [];
    const found = objects(await envoyConfig(['--mode', mode, ...pods, ...flags]));

    expect(found.length).toBeGreaterThan(6);
    expect(problems(found)).toEqual([]);
    expect(new Set(found.map(nameOf)).size).toBe(found.length);
  });

  it('a wrong one would be found', async () => {
    const yaml = await envoyConfig(['--mode', 'envoy-gateway']);
    const broken = yaml
      .replace('failOpen: true', 'failOpen: "true"')
      .replace('messageTimeout: 5s', 'messageTimeout: 5000000ms')
      .replace('enableServiceLinks', 'enableServiceLink')
      .replace('type: LeastRequest', 'type: Fair');

    expect(problems(objects(broken))).toEqual([
      expect.stringContaining('enableServiceLink: unknown field'),
      expect.stringContaining('failOpen: "true" is not of type'),
      expect.stringContaining('messageTimeout: 5000000ms is not like'),
      expect.stringContaining('type: Fair is none of'),
    ]);
  });
});

describe.skipIf(without(schemas))('manifests in the pages fit the schemas of their kinds', () => {
  const guides = join(root, 'docs/guides');
  const snippets = readdirSync(guides).flatMap((page) =>
    [...readFileSync(join(guides, page), 'utf8').matchAll(/^```yml\n(apiVersion:.*?)^```/gms)].map(
      ([, yaml = ''], index) => ({ name: `${page} ${index + 1}`, yaml }),
    ),
  );

  it.each(snippets)('$name', ({ yaml }) => {
    expect(problems(objects(yaml))).toEqual([]);
  });
});

describe.skipIf(without(schemas) || without(tools))('kustomize builds the overlays', () => {
  const overlays = readdirSync(join(kustomize, 'overlays'));

  it.each(overlays)('%s', (overlay) => {
    const found = objects(kubectl(['kustomize', join(kustomize, 'overlays', overlay)]));

    expect(problems(found)).toEqual([]);
    expect(found.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name)).toContain(
      'smg-envoy',
    );
  });
});

describe.skipIf(without(schemas) || without(tools))('helm renders the chart', () => {
  const KINDS = ['none', 'istio', 'envoy-gateway', 'inference-pool', 'inference-pool-istio', 'standalone'];

  it.each(KINDS)('gateway.kind %s', (kind) => {
    const found = objects(template(['--set', `gateway.kind=${kind}`]));

    expect(problems(found)).toEqual([]);
    expect(new Set(found.map(nameOf)).size).toBe(found.length);
    expect(found.filter(({ metadata }) => metadata.namespace !== undefined).length).toBe(found.length);
  });

  it('with everything that can be set', () => {
    const values = {
      image: { repository: 'registry.example/smg-envoy', tag: '1', pullPolicy: 'Always', pullSecrets: [{ name: 'a' }] },
      replicas: 3,
      pinStore: { url: 'rediss+sentinel://a:1,b:2/main', secretName: 'pins', passwordKey: 'password' },
      config: { policy: { type: 'cache_aware' }, worker_urls: ['http://10.0.0.1:8000'], destination_header: 'off' },
      secretName: '',
      discovery: { enabled: true, selector: { a: 'b', c: 'd' }, port: 1, namespace: '*' },
      workers: { service: 's', namespace: 'n', port: 2 },
      gateway: { kind: 'envoy-gateway', namespace: 'g', name: 'h', podLabels: { x: 'y' } },
      shutdownGracePeriodSecs: 5,
      podAnnotations: { a: 'b' },
      podLabels: { team: 'llm' },
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
    };

    const found = objects(
      template([
        '--set-json',
        `global={},${Object.entries(values)
          .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
          .join(',')}`,
      ]),
    );

    expect(problems(found)).toEqual([]);
    expect(found.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ClusterRole', 'ClusterRoleBinding']));
  });

  it('without a Gateway where there is one', () => {
    const found = objects(template(['--set', 'gateway.kind=envoy-gateway,gateway.create=false']));

    expect(problems(found)).toEqual([]);
    expect(found.map(({ kind }) => kind)).not.toContain('Gateway');
    expect(found.map(({ kind }) => kind)).toContain('EnvoyProxy');
  });

  it('the service is that of the kustomize base', () => {
    const base = objects(kubectl(['kustomize', join(kustomize, 'base')]));
    const rendered = objects(template(['--namespace', 'smg-envoy']));
    const bare = (all: readonly KubeObject[]) =>
      new Map(all.filter(({ kind }) => kind !== 'ConfigMap').map((one) => [nameOf(one), withoutDefaults(one)]));

    expect(bare(rendered)).toEqual(bare(base));
  });

  it('with a pin store: two replicas, as the component of kustomize has them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-kustomize-'));
    const [base, component] = ['base', 'components/shared-pins'].map((path) => relative(folder, join(kustomize, path)));
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      `kind: Kustomization\nresources: [${base}]\ncomponents: [${component}]\n`,
    );
    const built = objects(kubectl(['kustomize', folder]));
    rmSync(folder, { recursive: true });
    const store = ['--set', 'pinStore.url=redis://redis:6379,pinStore.passwordKey=password'];
    const rendered = objects(template(['--namespace', 'smg-envoy', ...store]));
    const service = (all: readonly KubeObject[]) => all.filter(({ kind }) => kind === 'Deployment').map(deploymentOf);

    expect(problems(built)).toEqual([]);
    expect(problems(rendered)).toEqual([]);
    expect(service(rendered)).toEqual(service(built));
    expect(service(built)[0]?.replicas).toBe(2);
    expect(JSON.stringify(built)).toContain('{"name":"SMG_PIN_STORE","value":"redis://redis:6379"}');
    const [config] = rendered.filter(({ kind }) => kind === 'ConfigMap');
    expect(JSON.stringify(config)).toContain(
      'pin_store: redis://redis:6379\\npin_store_password_file: /etc/smg-envoy-pins/password',
    );
  });

  it.each([
    [['--set', 'gateway.kind=nope'], 'gateway'],
    [['--set', 'replica=2'], 'replica'],
    [['--set', 'pinStore.url=redis://:secret@redis:6379'], 'pinStore'],
    [['--set', 'discovery.port=0'], 'port'],
    [['--set', 'gateway.kind=inference-pool,discovery.enabled=false'], 'a pool is made of pods'],
    [['--set', 'gateway.kind=envoy-gateway,config.pd_disaggregation=true'], 'config.pd_dispatch has to be header'],
  ])('%j is refused', (flags, message) => {
    expect(() => template(flags)).toThrow(message);
  });

  /** What of a Deployment has to do with sharing pins; one names the store by variable, the other in the config file. */
  function deploymentOf(one: KubeObject) {
    // biome-ignore lint/suspicious/noExplicitAny: a manifest of a known kind
    const { replicas, template: pod } = (one as any).spec;
    const { volumes, topologySpreadConstraints, containers } = pod.spec;
    const mounts: readonly { readonly name: string }[] = containers[0].volumeMounts;
    const byName = (list: readonly { readonly name: string }[]) => new Map(list.map((each) => [each.name, each]));
    return { replicas, volumes: byName(volumes), mounts: byName(mounts), topologySpreadConstraints };
  }

  /** What the chart writes out and the manifests leave to the API server. */
  function withoutDefaults(one: KubeObject): unknown {
    return JSON.parse(JSON.stringify(one), (name, value) => (name === 'imagePullPolicy' ? undefined : value));
  }
});

function kubectl(args: readonly string[]): string {
  return tool('kubectl', args);
}

function template(args: readonly string[]): string {
  return tool('helm', ['template', 'smg', chart, '--kube-version', '1.34.0', ...args]);
}

function tool(name: 'kubectl' | 'helm', args: readonly string[]): string {
  if (tools.status !== 'fulfilled') throw new Error('no tools');
  return execFileSync(tools.value[name], args, { encoding: 'utf8', stdio: 'pipe', env: { HOME: '/nonexistent' } });
}
