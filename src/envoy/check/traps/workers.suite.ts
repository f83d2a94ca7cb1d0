import { type Row, STATIC } from '../trap-rows.suite.ts';

export const WORKER_ROWS: readonly Row[] = [
  ['T41', 'no thresholds', ({ workers }) => delete workers.circuit_breakers],
  ['T41', 'retries', ({ workers }) => delete workers.circuit_breakers.thresholds[0].max_retries],
  [
    'T38',
    'retries, where nothing is retried',
    ({ workers, routes }) => {
      delete workers.circuit_breakers.thresholds[0].max_retries;
      for (const { route } of routes) delete route?.retry_policy;
    },
  ],
  [
    '',
    'a budget of retries',
    ({ workers }) => {
      const [threshold] = workers.circuit_breakers.thresholds;
      delete threshold.max_retries;
      threshold.retry_budget = {};
    },
  ],
  ['T63', 'no checks', ({ workers }) => delete workers.health_checks, STATIC],
  [
    '',
    'outlier detection',
    ({ workers }) => {
      delete workers.health_checks;
      workers.outlier_detection = {};
    },
    STATIC,
  ],
  ['T65', 'endless', ({ workers }) => (workers.eds_cluster_config.eds_config.initial_fetch_timeout = '0s')],
  ['T65', 'long', ({ workers }) => (workers.eds_cluster_config.eds_config.initial_fetch_timeout = '60s')],
  [
    'T66',
    'a file that is not there',
    ({ workers }) => {
      const path_config_source = { path: '/nowhere/endpoints.json' };
      workers.eds_cluster_config.eds_config = { resource_api_version: 'V3', path_config_source };
    },
  ],
  ['T77', 'left out', ({ workersHttp }) => delete workersHttp.common_http_protocol_options],
  ['T77', 'a minute', ({ workersHttp }) => (workersHttp.common_http_protocol_options.idle_timeout = '60s')],
  ['T77', 'never', ({ workersHttp }) => (workersHttp.common_http_protocol_options.idle_timeout = '0s')],
];
