import type { Checks } from '../config/load-settings.ts';
import { parseWorkerSpec } from '../workers/worker-spec.ts';
import { parseWorkerUrl, rankProblem } from '../workers/worker-url.ts';

/** What the settings need to know of workers, which the config layer does not. */
export const WORKER_CHECKS: Checks = {
  workerUrl: (url, dpAware) => {
    const result = parseWorkerUrl(url);
    return result.ok ? rankProblem(result.url, dpAware) : result.message;
  },
  worker: (value, dpAware) => {
    const result = parseWorkerSpec(value);
    if (!result.ok) return result.issues;
    const message = rankProblem(result.spec.url, dpAware);
    return message === null ? [] : [{ path: ['url'], message }];
  },
};
