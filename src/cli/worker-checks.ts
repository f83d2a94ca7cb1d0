import type { Checks } from '../config/load-settings.ts';
import { readDeclaration } from '../discovery/dns/name-pool.ts';
import { rankProblem } from '../workers/worker-url.ts';

/** What the settings need to know of workers, which the config layer does not. */
export const WORKER_CHECKS: Checks = {
  workerUrl: (url, dpAware) => {
    const [problem] = problemsOf({ url }, dpAware);
    return problem?.message.replace(/^url: /, '') ?? null;
  },
  worker: problemsOf,
};

function problemsOf(value: unknown, dpAware: boolean): ReturnType<NonNullable<Checks['worker']>> {
  const read = readDeclaration(value);
  if (read.kind === 'wrong') return read.issues;
  if (read.kind === 'pool') return [];
  const message = rankProblem(read.spec.url, dpAware);
  return message === null ? [] : [{ path: ['url'], message }];
}
