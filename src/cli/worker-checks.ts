import type { Checks } from '../config/load-settings.ts';
import { parseWorkerSpec } from '../workers/worker-spec.ts';
import { parseWorkerUrl } from '../workers/worker-url.ts';

/** What the settings need to know of workers, which the config layer does not. */
export const WORKER_CHECKS: Checks = {
  workerUrl: (url) => {
    const result = parseWorkerUrl(url);
    return result.ok ? null : result.message;
  },
  worker: (value) => {
    const result = parseWorkerSpec(value);
    return result.ok ? [] : result.issues;
  },
};
