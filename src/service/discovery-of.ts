/** From settings to the sources of workers. */
import { readConfigText } from '../config/config-text.ts';
import type { Loaded, Settings } from '../config/load-settings.ts';
import { Discovery } from '../discovery/discovery.ts';
import { readWorkersFile } from '../discovery/file/workers-file.ts';
import { type PodRules, readModelIdSource } from '../discovery/kubernetes/pod-workers.ts';
import { readSelector } from '../discovery/kubernetes/selector.ts';
import type { DiscoveryObserver, WorkerSink } from '../discovery/source.ts';
import { AppError, messageOf } from '../util/app-error.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';
import { rankProblem, schemeProblem, type WorkerScheme } from '../workers/worker-url.ts';
import { schemesOf } from './upstream-of.ts';

export interface DiscoveryParts {
  readonly sink: WorkerSink;
  readonly observer: DiscoveryObserver;
  /** Those that Envoy is configured for. */
  readonly schemes: ReadonlySet<WorkerScheme>;
}

/** The sources that the settings name. */
export function discoveryOf({ settings }: Loaded, { sink, observer, schemes }: DiscoveryParts): Discovery {
  return new Discovery({
    sink,
    observer,
    workersFile: settings.workersFile,
    kubernetes: settings.serviceDiscovery
      ? { rules: podRulesOf(settings), namespace: settings.serviceDiscoveryNamespace }
      : null,
    refuse: refusing(settings, schemes),
  });
}

/**
 * Begins to read them.
 *
 * @throws AppError `invalid_configuration` for a workers file that cannot be used: there is nothing yet to go on with
 */
export async function beginDiscovery(discovery: Discovery): Promise<void> {
  await discovery.begin();
  const unread = discovery.sources.find(({ name, health }) => name === 'workers_file' && health === 'unread');
  if (unread !== undefined) throw new AppError('invalid_configuration', `--workers-file: ${unread.problem ?? ''}`);
}

/** What is wrong with the workers file, as the start of the service would say it; nothing without such a file. */
export function workersFileProblems(loaded: Loaded): readonly string[] {
  const { workersFile } = loaded.settings;
  if (workersFile === null) return [];
  try {
    const text = readConfigText(workersFile);
    const read = readWorkersFile(text, workersFile, refusing(loaded.settings, schemesOf(loaded)));
    return read.ok ? [] : read.problems;
  } catch (error) {
    return [`${workersFile}: cannot be read: ${messageOf(error)}`];
  }
}

function refusing({ dpAware }: Settings, schemes: ReadonlySet<WorkerScheme>): (spec: WorkerSpec) => string | null {
  return ({ url }) => rankProblem(url, dpAware) ?? schemeProblem(url, schemes);
}

export function podRulesOf(settings: Settings): PodRules {
  const { selector, prefillSelector, decodeSelector, modelIdFrom, serviceDiscoveryPort } = settings;
  const roles = [
    { workerType: 'prefill' as const, selector: readSelector(prefillSelector) },
    { workerType: 'decode' as const, selector: readSelector(decodeSelector) },
  ].filter((role) => role.selector.size > 0);
  return {
    // The flags of the two roles need --pd-disaggregation, under which SMG does not look at the plain selector.
    roles: roles.length > 0 ? roles : [{ workerType: 'regular', selector: readSelector(selector) }],
    port: serviceDiscoveryPort,
    modelIdFrom: modelIdFrom === null ? null : readModelIdSource(modelIdFrom),
    withNamespace: settings.serviceDiscoveryNamespace === null,
  };
}
