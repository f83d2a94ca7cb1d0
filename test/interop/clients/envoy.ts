import { readFileSync } from 'node:fs';
import type { EnvoyRuntime } from '../../../src/demo/envoy-runtime.ts';
import { startEnvoy } from '../../support/envoy.ts';
import { extProcBootstrap } from '../../support/ext-proc-bootstrap.ts';
import { ask } from '../../support/http.ts';
import { freePort } from '../../support/ports.ts';
import { SERVER_NAME, socketPath, type Target } from '../way.ts';
import { firstOf, SAW_PICK_HEADER, type Worker } from '../workers.ts';

const REQUESTS = 4;

/** What came of some requests through an Envoy. */
export interface EnvoyAnswers {
  /** As its admin interface tells it. */
  readonly version: string;
  /** Status and pick of each: the first destination that its worker was told, and the stamp that its client was told. */
  readonly answers: readonly (readonly [status: number, pick: string | undefined, stamp: string | undefined])[];
}

/** Of an Envoy of this version: each request was picked and its answer stamped, the workers in turn. */
export function pickedInTurn(version: string, workers: readonly Worker[]): EnvoyAnswers {
  const answers = Array.from({ length: REQUESTS }, (_, index) => {
    const { url = '', port = 0 } = workers[index % workers.length] ?? {};
    return [200, `127.0.0.1:${port}`, url] as const;
  });
  return { version, answers };
}

/** Sends requests through an Envoy whose external processor is the target. */
export async function askThroughEnvoy(
  target: Target,
  workers: readonly Worker[],
  runtime?: EnvoyRuntime,
): Promise<EnvoyAnswers> {
  const bootstrap = extProcBootstrap({
    listenPort: await freePort(),
    adminPort: await freePort(),
    pickerPort: 0,
    workerPorts: workers.map(({ port }) => port),
    mode: { request_header_mode: 'SEND', response_header_mode: 'SEND' },
  });
  const envoy = await startEnvoy(withPickerAt(target, bootstrap), runtime === undefined ? {} : { runtime });
  try {
    const info = (await ask(envoy.adminUrl, { path: '/server_info' })).json as { version: string };
    const answers: EnvoyAnswers['answers'][number][] = [];
    for (let request = 0; request < REQUESTS; request++) {
      const { status, headers } = await ask(envoy.url, { path: '/v1/models' });
      answers.push([status, firstOf(headers[SAW_PICK_HEADER]), headers['x-smg-routed-worker-id']]);
    }
    // Commit, version, state of the sources, kind of build, TLS library.
    const [, version = ''] = info.version.split('/');
    return { version, answers: startingAt(workers, answers) };
  } finally {
    await envoy.stop();
  }
}

/** Whoever asked before moved the turn on: begins the answers where the first worker was picked. */
function startingAt(workers: readonly Worker[], answers: EnvoyAnswers['answers']): EnvoyAnswers['answers'] {
  const first = answers.findIndex(([, , stamp]) => stamp === workers[0]?.url);
  return first === -1 ? answers : [...answers.slice(first), ...answers.slice(0, first)];
}

interface PickerCluster {
  readonly name: string;
  transport_socket?: object;
  readonly load_assignment: {
    readonly endpoints: readonly { readonly lb_endpoints: readonly { readonly endpoint: { address: object } }[] }[];
  };
}

function withPickerAt(target: Target, bootstrap: string): string {
  const config = JSON.parse(bootstrap) as { static_resources: { clusters: readonly PickerCluster[] } };
  const cluster = config.static_resources.clusters.find(({ name }) => name === 'picker');
  const endpoint = cluster?.load_assignment.endpoints[0]?.lb_endpoints[0]?.endpoint;
  if (cluster === undefined || endpoint === undefined) throw new Error('a bootstrap without picker');
  endpoint.address = addressOf(target);
  if (target.way.tls) cluster.transport_socket = tlsTrusting(readFileSync(target.caPath, 'utf8'));
  return JSON.stringify(config);
}

function addressOf(target: Target): object {
  const path = socketPath(target);
  if (path !== null) return { pipe: { path } };
  const [address, port] = target.address.split(':');
  return { socket_address: { address, port_value: Number(port) } };
}

function tlsTrusting(certificate: string): object {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: SERVER_NAME,
      common_tls_context: {
        alpn_protocols: ['h2'],
        validation_context: {
          trusted_ca: { inline_string: certificate },
          match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: SERVER_NAME } }],
        },
      },
    },
  };
}
