import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { gateway } from './fixture.suite.ts';
import type { WorkloadOptions } from './options.ts';
import { workload } from './workload.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into manifests of any kind
function kinds(change: Partial<WorkloadOptions> = {}): Record<string, any> {
  const made = workload({ ...gateway().workload, ...change });
  return Object.fromEntries(made.map((one) => [one['kind'], one]));
}

describe('the service as manifests', () => {
  it('runs without rights that it does not need', () => {
    const { spec } = kinds()['Deployment'].spec.template;

    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('decisions 44: gets no service links', () => {
    expect(kinds()['Deployment'].spec.template.spec.enableServiceLinks).toBe(false);
  });

  it('is asked for its health on the gRPC port, so that the admin API stays on loopback', () => {
    const [container] = kinds()['Deployment'].spec.template.spec.containers;

    expect(container.readinessProbe.grpc).toEqual({ port: 9002, service: 'readiness' });
    expect(container.livenessProbe.grpc).toEqual({ port: 9002, service: 'liveness' });
    expect(container.startupProbe.grpc).toEqual({ port: 9002, service: 'liveness' });
  });

  it('has longer to stop than its own drain takes', () => {
    const { spec } = kinds({ shutdownGraceSecs: 600 })['Deployment'].spec.template;

    expect(spec.terminationGracePeriodSeconds).toBe(620);
  });

  it('field-lessons R51: names the protocol of its port', () => {
    expect(kinds()['Service'].spec.ports[0]).toMatchObject({ name: 'grpc', appProtocol: 'kubernetes.io/h2c' });
  });

  it('reads its settings from the config map', () => {
    const config = { policy: 'manual', worker_urls: ['http://a:1'], retry_on_reset: false };
    const { data } = kinds({ config })['ConfigMap'];

    expect(parse(data['config.yaml'])).toEqual(config);
  });

  it('is one replica while it shares no pins', () => {
    expect(kinds({ config: { pin_store: 'memory' } })['Deployment'].spec.replicas).toBe(1);
    expect(kinds({ config: {} })['Deployment'].spec.template.spec.volumes).toHaveLength(1);
  });

  it('is two replicas on different nodes where it shares pins, and finds secrets as files', () => {
    const { spec } = kinds({ config: { pin_store: 'redis://redis:6379' } })['Deployment'];

    expect(spec.replicas).toBe(2);
    expect(spec.template.spec.topologySpreadConstraints[0].topologyKey).toBe('kubernetes.io/hostname');
    expect(spec.template.spec.volumes[1].secret).toEqual({ secretName: 'smg-envoy-pins', optional: true });
    expect(spec.template.spec.containers[0].volumeMounts[1].mountPath).toBe('/etc/smg-envoy-pins');
  });

  it.each([
    ['models', 'Role', 'models'],
    [null, 'ClusterRole', undefined],
  ])('discovery in %s: a %s', (namespace, kind, at) => {
    const made = kinds({ pods: { namespace, labels: { app: 'x' }, port: 1 } });

    expect(made[kind].rules).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }]);
    expect([made[kind].metadata.namespace, made[`${kind}Binding`].metadata.namespace]).toEqual([at, at]);
    expect(made[`${kind}Binding`]).toMatchObject({
      roleRef: { kind, name: 'smg-envoy' },
      subjects: [{ kind: 'ServiceAccount', name: 'smg-envoy', namespace: 'smg' }],
    });
    expect(made['Deployment'].spec.template.spec.automountServiceAccountToken).toBe(true);
  });

  it('without discovery it gets no token and no rights', () => {
    const made = kinds({ pods: null });

    expect(Object.keys(made)).toEqual(['ConfigMap', 'ServiceAccount', 'Deployment', 'Service', 'PodDisruptionBudget']);
    expect(made['Deployment'].spec.template.spec.automountServiceAccountToken).toBe(false);
  });
});
