import { aliasAndModel, aliasProblem } from '../model-aliases.ts';
import { available } from '../setting.ts';
import { bool, choice, int, list, optional, TIMER_SECS, text, U32 } from '../setting-types.ts';
import { filePath, urlPath } from '../text-types.ts';

/** Where workers come from, and how their health is told. Ranges as SMG's, timers within Node's (policies 7). */
export const WORKER_SETTINGS = {
  workerUrls: available({
    type: list(text('a worker URL', (value) => value !== '', 'url')),
    default: [],
    help: 'base URLs of workers; dns+http://NAME:PORT for one at every address of a name',
    group: 'Workers',
    reload: 'live',
  }),
  workerSchemes: available({
    type: list(choice(['http', 'https', 'grpc', 'grpcs'])),
    default: [],
    help: 'schemes of workers that are still to come, besides http and those of the workers given at start',
    group: 'Workers',
    reload: 'restart',
  }),
  upstreamHttp2: available({
    type: bool(),
    default: false,
    help: 'speak HTTP/2 to every worker: h2c to http://, ALPN h2 to https://',
    group: 'Workers',
    reload: 'restart',
  }),
  caCertPaths: available({
    type: list(filePath()),
    default: [],
    help: 'authorities that certificates of workers must be of, PEM; without one those of the system',
    group: 'Workers',
    reload: 'restart',
  }),
  clientCertPath: available({
    type: optional(filePath()),
    default: null,
    help: 'certificate that workers are shown, PEM',
    group: 'Workers',
    reload: 'restart',
  }),
  clientKeyPath: available({
    type: optional(filePath()),
    default: null,
    help: 'its private key, PEM',
    group: 'Workers',
    reload: 'restart',
  }),
  workerTlsInsecure: available({
    type: bool(),
    default: false,
    help: 'take any certificate of a worker',
    group: 'Workers',
    reload: 'restart',
  }),
  workerStartupCheckInterval: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 1,
    help: 'longest pause between probes of a worker that was never ready, in seconds',
    group: 'Workers',
    reload: 'restart',
  }),
  drainSettleSecs: available({
    type: int({ max: TIMER_SECS, unit: 'secs' }),
    default: 5,
    help: 'seconds between the removal of a worker and its end, for its running requests',
    group: 'Workers',
    reload: 'restart',
  }),
  drainDeadlineSecs: available({
    type: int({ max: TIMER_SECS, unit: 'secs' }),
    default: 3600,
    help: 'longest life of pins on a draining worker, in seconds',
    group: 'Workers',
    reload: 'restart',
  }),
  dpAware: available({
    type: bool(),
    default: false,
    help: 'one worker for each data-parallel rank',
    group: 'Workers',
    reload: 'restart',
  }),
  modelAlias: available({
    type: list(
      text('alias=canonical, two different names', (value) => aliasAndModel(value) !== null, 'alias=canonical'),
      { whole: aliasProblem },
    ),
    default: [],
    help: 'further names of a model',
    group: 'Workers',
    reload: 'live',
  }),

  healthFailureThreshold: available({
    type: int({ min: 1, max: U32 }),
    default: 3,
    help: 'failed probes in a row that take a worker out',
    group: 'Health',
    reload: 'restart',
  }),
  healthSuccessThreshold: available({
    type: int({ min: 1, max: U32 }),
    default: 2,
    help: 'good probes in a row that bring a worker in',
    group: 'Health',
    reload: 'restart',
  }),
  healthCheckTimeoutSecs: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 5,
    help: 'longest wait for the answer to a probe, in seconds',
    group: 'Health',
    reload: 'restart',
  }),
  healthCheckIntervalSecs: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 60,
    help: 'pause between probes of a worker, in seconds',
    group: 'Health',
    reload: 'restart',
  }),
  healthCheckEndpoint: available({
    type: urlPath(),
    default: '/health',
    help: 'path that is probed',
    group: 'Health',
    reload: 'restart',
  }),
  disableHealthCheck: available({
    type: bool(),
    default: false,
    help: 'never probe: every worker counts as healthy',
    group: 'Health',
    reload: 'restart',
  }),
  removeUnhealthyWorkers: available({
    type: bool(),
    default: false,
    help: 'forget a worker whose probes keep failing',
    group: 'Health',
    reload: 'restart',
    aliases: ['worker-auto-recovery'],
    negations: ['no-remove-unhealthy-workers', 'no-worker-auto-recovery'],
  }),
} as const;
