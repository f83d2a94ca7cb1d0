import type { Envoy } from '../../../../test/support/envoy-check.ts';
import { DESTINATION, type Row, STATIC } from '../trap-rows.suite.ts';

const STAMP = 'x-smg-routed-worker-id';
const OVERWRITE = 'OVERWRITE_IF_EXISTS_OR_ADD';
const stampBy = (value: string, append_action: string) => ({ header: { key: STAMP, value }, append_action });
const stampMutation = ({ workersHttp }: Envoy) =>
  workersHttp.http_filters[0].typed_config.mutations.response_mutations.find(
    ({ append }: { append?: object }) => append,
  );

export const STAMP_ROWS: readonly Row[] = [
  [
    'T42',
    'by the virtual host',
    ({ host, workersHttp }) => {
      workersHttp.http_filters.shift();
      host.response_headers_to_remove = [STAMP];
      host.response_headers_to_add = [stampBy('%UPSTREAM_METADATA(worker:stamp)%', OVERWRITE)];
    },
  ],
  [
    'T42 T43',
    'by a route that does not remove it',
    ({ route, workersHttp }) => {
      workersHttp.http_filters.shift();
      route.response_headers_to_add = [stampBy('%UPSTREAM_METADATA(worker:stamp)%', OVERWRITE)];
    },
  ],
  ['T85', 'the filter is gone', ({ workersHttp }) => delete workersHttp.http_filters],
  ['', 'nobody wants it', ({ workersHttp }) => delete workersHttp.http_filters, ['--routed-worker-id', 'off']],
  ['T43', 'no append_action', (envoy) => delete stampMutation(envoy).append.append_action],
  ['T43', 'ADD_IF_ABSENT', (envoy) => (stampMutation(envoy).append.append_action = 'ADD_IF_ABSENT')],
  [
    'T44',
    'the list of the service',
    (envoy) => (stampMutation(envoy).append.header.value = `%DYNAMIC_METADATA(envoy.lb:${DESTINATION})%`),
  ],
  ['T44', 'a request header', (envoy) => (stampMutation(envoy).append.header.value = `%REQ(${DESTINATION})%`)],
  [
    '',
    'the host that was chosen last',
    (envoy) => (stampMutation(envoy).append.header.value = `%DYNAMIC_METADATA(envoy.lb:${DESTINATION}-served)%`),
  ],
  [
    'T45',
    'no metadata',
    ({ workers }) => {
      for (const one of workers.load_assignment.endpoints[0].lb_endpoints) delete one.metadata;
    },
    STATIC,
  ],
  [
    'T45',
    'one without a stamp',
    ({ workers }) => {
      delete workers.load_assignment.endpoints[0].lb_endpoints[1].metadata.filter_metadata.worker.stamp;
    },
    STATIC,
  ],
  [
    'T46',
    'in the stamp',
    (envoy) => (stampMutation(envoy).append.header.value = '%UPSTREAM_METADATA(["worker","stamp"])%'),
  ],
];
