import type { Config } from '../bootstrap/typed.ts';
import { LABELS, type Manifest, manifest, NAME } from './manifest.ts';
import type { WorkloadOptions } from './options.ts';
import { podReader } from './pod-reader.ts';

/** Ports inside the pod; the admin API stays on its loopback. */
export const GRPC_PORT = 9002;
export const METRICS_PORT = 9004;

/** User and group of the image `node`. */
const NODE_USER = 1000;
/** Beyond the drain of the service itself: the pause of preStop, and a margin. */
const STOP_MARGIN_SECS = 20;
const CONFIG_FOLDER = '/etc/smg-envoy';
const CONFIG_FILE = 'config.yaml';
/** Files of the Secret for the shared pins, and the folder where the settings name them. */
const PINS_SECRET = `${NAME}-pins`;
const PINS_FOLDER = `/etc/${PINS_SECRET}`;

/** The service: configuration, rights, pods, and the Service that gateways call. */
export function workload(options: WorkloadOptions): readonly Manifest[] {
  return [configMap(options), ...access(options), deployment(options), service(options), disruptionBudget(options)];
}

function own({ namespace }: WorkloadOptions): { namespace: string; name: string } {
  return { namespace, name: NAME };
}

function configMap(options: WorkloadOptions): Manifest {
  const about = [
    'Settings of the service. A change is read while it runs, once the kubelet has renewed the file; settings that need a',
    'restart say so in its log. Secrets belong into a Secret named smg-envoy, as variables like SMG_CONTROL_PLANE_API_KEYS.',
  ].join('\n');
  return manifest('v1', 'ConfigMap', own(options), about, { data: { [CONFIG_FILE]: configText(options) } });
}

function configText({ config }: WorkloadOptions): string {
  return Object.entries(config)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

function access(options: WorkloadOptions): readonly Manifest[] {
  const account = manifest('v1', 'ServiceAccount', own(options), 'Who the service is to the API server.', {
    automountServiceAccountToken: false,
  });
  return options.pods === null ? [account] : [account, ...podReader(own(options), options.pods)];
}

function deployment(options: WorkloadOptions): Manifest {
  const shared = sharesPins(options);
  const about = shared
    ? 'The service. Its replicas share what they remember of conversations (pin_store).'
    : 'The service. One replica: without a pin_store replicas do not share what they remember of conversations.';
  return manifest('apps/v1', 'Deployment', own(options), about, {
    spec: {
      replicas: shared ? SHARED_REPLICAS : 1,
      '# strategy': 'the new pod is ready before the old one drains',
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: podSpec(options) },
    },
  });
}

const SHARED_REPLICAS = 2;

function sharesPins({ config }: WorkloadOptions): boolean {
  const store = config['pin_store'];
  return store !== undefined && store !== 'memory';
}

/** What the Deployment has beyond the base where replicas share pins, and where the store is. */
export function sharedPinsPatch(options: WorkloadOptions, url: string): Config {
  const { spread, volumes, mounts } = SHARED_PINS;
  const env = [{ name: 'SMG_PIN_STORE', value: url }];
  return {
    '#': `Replicas that share their pins. Files of the Secret ${PINS_SECRET} are in ${PINS_FOLDER}.`,
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: own(options),
    spec: {
      replicas: SHARED_REPLICAS,
      template: { spec: { ...spread, containers: [{ name: NAME, env, volumeMounts: mounts }], volumes } },
    },
  };
}

const SHARED_PINS = {
  spread: {
    '# topologySpreadConstraints': 'a node that goes takes one replica with it',
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: LABELS },
      },
    ],
  },
  volumes: [{ name: 'pins', secret: { secretName: PINS_SECRET, optional: true } }],
  mounts: [{ name: 'pins', mountPath: PINS_FOLDER, readOnly: true }],
};
const ALONE = { spread: {}, volumes: [], mounts: [] };

function podSpec(options: WorkloadOptions): Config {
  const { spread, volumes } = sharesPins(options) ? SHARED_PINS : ALONE;
  return {
    serviceAccountName: NAME,
    '# automountServiceAccountToken': 'only discovery asks the API server',
    automountServiceAccountToken: options.pods !== null,
    '# enableServiceLinks': "a Service's address would come as SMG_… variables, which are settings",
    enableServiceLinks: false,
    '# terminationGracePeriodSeconds': 'more than shutdown_grace_period_secs, so that the service can finish its drain',
    terminationGracePeriodSeconds: options.shutdownGraceSecs + STOP_MARGIN_SECS,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: NODE_USER,
      runAsGroup: NODE_USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...spread,
    containers: [container(options)],
    volumes: [{ name: 'config', configMap: { name: NAME } }, ...volumes],
  };
}

function container(options: WorkloadOptions): Config {
  const health = (service: string): Config => ({ grpc: { port: GRPC_PORT, service } });
  return {
    name: NAME,
    image: options.image,
    args: ['serve', `--config=${CONFIG_FOLDER}/${CONFIG_FILE}`],
    envFrom: [{ secretRef: { name: NAME, optional: true } }],
    ports: [
      { name: 'grpc', containerPort: GRPC_PORT },
      { name: 'http-metrics', containerPort: METRICS_PORT },
    ],
    '# startupProbe': "the port's own health service, so that the admin API can stay on the pod's loopback",
    startupProbe: { ...health('liveness'), periodSeconds: 1, failureThreshold: 30 },
    readinessProbe: { ...health('readiness'), periodSeconds: 2, failureThreshold: 1 },
    livenessProbe: { ...health('liveness'), periodSeconds: 10, timeoutSeconds: 3, failureThreshold: 3 },
    '# lifecycle':
      'places what still comes until the gateways have learned that the pod leaves; Kubernetes 1.30 or later',
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    '# resources': 'what cache_aware, the default policy, remembers is the larger part of the memory',
    resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_FOLDER, readOnly: true },
      ...(sharesPins(options) ? SHARED_PINS : ALONE).mounts,
    ],
  };
}

function service(options: WorkloadOptions): Manifest {
  return manifest('v1', 'Service', own(options), 'What gateways call.', {
    spec: {
      selector: LABELS,
      ports: [
        {
          '#': 'appProtocol: without it a mesh takes the port for HTTP/1.1, and every call fails',
          name: 'grpc',
          port: GRPC_PORT,
          targetPort: 'grpc',
          appProtocol: 'kubernetes.io/h2c',
        },
        { name: 'http-metrics', port: METRICS_PORT, targetPort: 'http-metrics', appProtocol: 'http' },
      ],
    },
  });
}

function disruptionBudget(options: WorkloadOptions): Manifest {
  const about = 'Lets a node be drained: with one replica minAvailable would forbid it for ever.';
  return manifest('policy/v1', 'PodDisruptionBudget', own(options), about, {
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  });
}
