import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENVOY_VERSION } from '../../src/demo/envoy-release.ts';
import { noEnvoy } from '../support/envoy.ts';
import { findGoTool } from '../support/go-tools.ts';
import { findOldestEnvoy, OLDEST_ENVOY } from '../support/oldest-envoy.ts';
import { missing } from '../support/require.ts';
import { askByCurl } from './clients/curl.ts';
import { askThroughEnvoy, pickedInTurn } from './clients/envoy.ts';
import { askByGrpcJs } from './clients/grpc-js.ts';
import { askByGrpcurl, GRPCURL_ANSWER } from './clients/grpcurl.ts';
import { ALL_ANSWERED, askByNghttp, loadByH2load, noNghttp2 } from './clients/nghttp2.ts';
import { askByNodeHttp2 } from './clients/node-http2.ts';
import { runProgram } from './clients/run-program.ts';
import { SERVING_ANSWER } from './health-call.ts';
import { CLIENTS, type ClientName, type Row, whyNot } from './table.ts';
import { startTargets, type Targets } from './targets.ts';
import { type Target, WAYS, wayName } from './way.ts';
import { startWorker, type Worker } from './workers.ts';

/** A client as this suite runs it. */
interface Client {
  readonly absent: boolean;
  call(target: Target): Promise<unknown>;
  /** What has to come of the call. */
  sees(): unknown;
}

const [grpcurl, oldest] = await Promise.all([findGoTool('grpcurl'), findOldestEnvoy()]);
const withoutEnvoy = noEnvoy();
const withoutNghttp2 = noNghttp2();

let workers: readonly Worker[] = [];

const RUN: Record<ClientName, Client> = {
  envoy: {
    absent: withoutEnvoy,
    call: (target) => askThroughEnvoy(target, workers),
    // ENVOY_BIN may name another release.
    sees: () => ({ ...pickedInTurn(ENVOY_VERSION, workers), version: expect.stringMatching(/^1\.\d+\.\d+/) }),
  },
  oldestEnvoy: {
    absent: missing('envoy', oldest.kind === 'none' ? oldest.reason : undefined),
    call: (target) => {
      if (oldest.kind === 'none') throw new Error(oldest.reason);
      return askThroughEnvoy(target, workers, oldest);
    },
    sees: () => pickedInTurn(OLDEST_ENVOY, workers),
  },
  grpcJs: {
    absent: false,
    call: askByGrpcJs,
    sees: () => ({
      healthy: true,
      picked: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:(${workers.map(({ port }) => port).join('|')})$`)),
      status: 0,
    }),
  },
  grpcurl: {
    absent: missing('go', grpcurl.reason),
    call: (target) => askByGrpcurl(grpcurl.path, target),
    sees: () => GRPCURL_ANSWER,
  },
  h2load: { absent: withoutNghttp2, call: loadByH2load, sees: () => ALL_ANSWERED },
  nghttp: { absent: withoutNghttp2, call: askByNghttp, sees: () => SERVING_ANSWER },
  curl: { absent: false, call: askByCurl, sees: () => SERVING_ANSWER },
  nodeHttp2: { absent: false, call: askByNodeHttp2, sees: () => SERVING_ANSWER },
};

describe('clients of other makers', () => {
  let targets: Targets;

  beforeAll(async () => {
    workers = [await startWorker(), await startWorker()];
    targets = await startTargets(workers.map(({ url }) => url));
  });
  afterAll(async () => {
    await targets?.close();
    for (const worker of workers) worker.close();
  });

  const rows = Object.entries(CLIENTS) as [ClientName, Row][];
  describe.each(rows)('%s', (client, row) => {
    const { absent, call, sees } = RUN[client];

    it.skipIf(absent).each(WAYS.filter((way) => whyNot(row, way) === null).map((way) => [wayName(way), way] as const))(
      `${row.name}, %s: ${row.does}`,
      async (_, way) => {
        expect(await call(targets.at(way))).toEqual(sees());
      },
    );
  });

  it.skipIf(withoutNghttp2)('nghttp still has no option for a Unix socket, as the table says', async () => {
    const help = await runProgram('nghttp', ['--help']);

    expect(help).toContain('--data=');
    expect(help).not.toMatch(/unix/i);
  });
});
