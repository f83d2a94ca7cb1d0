import { available } from '../setting.ts';
import { bool, list, optional, port, text } from '../setting-types.ts';
import { filePath, pair } from '../text-types.ts';

const DISCOVERY = { group: 'Service discovery', reload: 'restart' } as const;

/** Where workers are found while the service runs (interface 6, decisions 17). Names and defaults are SMG's where it has them. */
export const DISCOVERY_SETTINGS = {
  serviceDiscovery: available({
    type: bool(),
    default: false,
    help: 'find workers among Kubernetes pods',
    ...DISCOVERY,
  }),
  serviceDiscoveryNamespace: available({
    type: optional(text('a Kubernetes namespace', (value) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(value), 'name')),
    default: null,
    help: 'namespace to watch; unset: all',
    ...DISCOVERY,
  }),
  serviceDiscoveryPort: available({
    type: port(),
    default: 80,
    help: 'port of pods without the annotation smg.ai/worker-ports',
    ...DISCOVERY,
  }),
  selector: available({
    type: list(pair(), { some: true }),
    default: [],
    help: 'labels of worker pods, all of them',
    ...DISCOVERY,
  }),
  prefillSelector: available({
    type: list(pair(), { some: true }),
    default: [],
    help: 'labels of prefill pods',
    ...DISCOVERY,
  }),
  decodeSelector: available({
    type: list(pair(), { some: true }),
    default: [],
    help: 'labels of decode pods',
    ...DISCOVERY,
  }),
  modelIdFrom: available({
    type: optional(
      text(
        'namespace, label:KEY or annotation:KEY',
        (value) => /^(namespace|(label|annotation):\S+)$/.test(value),
        'source',
      ),
    ),
    default: null,
    help: 'where the model id of a pod stands; what the worker lists is served beside it',
    ...DISCOVERY,
  }),
  workersFile: available({
    type: optional(filePath()),
    default: null,
    help: 'YAML or JSON file with a list of workers, read again when it changes',
    ...DISCOVERY,
  }),
} as const;
