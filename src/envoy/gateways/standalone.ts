import { renderBootstrap } from '../bootstrap/render-bootstrap.ts';
import type { Config } from '../bootstrap/typed.ts';
import { type Manifest, manifest, LABELS as SERVICE_LABELS } from './manifest.ts';
import type { GatewayOptions, Labels, Reference } from './options.ts';
import { GRPC_PORT } from './workload.ts';

const NAME = 'smg-envoy-proxy';
const LABELS: Labels = { 'app.kubernetes.io/name': NAME };
/** Its name has the address of each replica, which the Service `smg-envoy` hides. */
const REPLICAS = 'smg-envoy-replicas';
const HTTP_PORT = 8080;
/** Longest time that running answers have when a pod of Envoy ends. */
const GRACE_SECS = 180;
/** User of the image `envoyproxy/envoy:distroless`. */
const NONROOT = 65_532;

/** An Envoy of our own in the cluster, with the generated bootstrap: a backend for a gateway of any kind. */
export function standaloneEnvoy(options: GatewayOptions): readonly Manifest[] {
  const at = { namespace: options.workload.namespace, name: NAME };
  const replicas = replicasService({ ...at, name: REPLICAS });
  return [configMap(options, at), deployment(at), service(at), replicas, disruptionBudget(at)];
}

function configMap(options: GatewayOptions, at: Reference): Manifest {
  const { envoy } = options;
  const bootstrap = renderBootstrap({
    ...envoy,
    listen: { kind: 'tcp', host: '0.0.0.0', port: HTTP_PORT },
    pickers: [{ kind: 'tcp', host: `${REPLICAS}.${options.workload.namespace}.svc.cluster.local`, port: GRPC_PORT }],
  });
  const about = 'The output of `smg-envoy envoy-config`. Envoy reads it when it starts.';
  return manifest('v1', 'ConfigMap', at, about, { data: { 'envoy.yaml': bootstrap } });
}

function deployment(at: Reference): Manifest {
  const about = 'Envoy. Any number of replicas: each asks the service.';
  return manifest('apps/v1', 'Deployment', at, about, {
    spec: {
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: podSpec() },
    },
  });
}

function podSpec(): Config {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECS + 20,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: NONROOT,
      runAsGroup: NONROOT,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'envoy',
        image: 'docker.io/envoyproxy/envoy:distroless-v1.40.0',
        args: ['-c', '/etc/envoy/envoy.yaml', '-l', 'warning'],
        ports: [{ name: 'http', containerPort: HTTP_PORT }],
        readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2 },
        '# lifecycle': 'SIGTERM ends Envoy at once, and running answers with it: this is the time they have',
        lifecycle: { preStop: { sleep: { seconds: GRACE_SECS } } },
        resources: { requests: { cpu: '500m', memory: '256Mi' }, limits: { memory: '2Gi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'config', mountPath: '/etc/envoy', readOnly: true }],
      },
    ],
    volumes: [{ name: 'config', configMap: { name: NAME } }],
  };
}

function service(at: Reference): Manifest {
  return manifest('v1', 'Service', at, 'Where clients, or the route of a gateway, come in.', {
    spec: { selector: LABELS, ports: [{ name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' }] },
  });
}

function replicasService(at: Reference): Manifest {
  const about =
    'The replicas of the service by their own addresses: Envoy leaves out one that drains, and repeats a call at another.';
  return manifest('v1', 'Service', at, about, {
    spec: {
      clusterIP: 'None',
      selector: SERVICE_LABELS,
      ports: [{ name: 'grpc', port: GRPC_PORT, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' }],
    },
  });
}

function disruptionBudget(at: Reference): Manifest {
  return manifest('policy/v1', 'PodDisruptionBudget', at, 'One pod at a time.', {
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  });
}
