import { spawnSync } from 'node:child_process';
import { missing } from '../../support/require.ts';
import { ANSWER_BYTES, GRPC_HEADERS, HEALTH_PATH, type HttpAnswer } from '../health-call.ts';
import { socketPath, type Target, urlOf } from '../way.ts';
import { runProgram, withHealthRequest } from './run-program.ts';

const HEADERS = GRPC_HEADERS.map((header) => `--header=${header}`);

/** Requests of h2load, over this many connections with this many streams each. */
const LOAD = { requests: 2000, connections: 4, streams: 16 };

/** For `describe.skipIf(noNghttp2())`. */
export function noNghttp2(): boolean {
  const absent = ['nghttp', 'h2load'].filter((name) => spawnSync(name, ['--version']).status !== 0);
  return missing('nghttp2', absent.length === 0 ? undefined : `no ${absent.join(' and no ')} on PATH`);
}

/** Posts a health check by nghttp, whose log tells of each frame. */
export async function askByNghttp(target: Target): Promise<HttpAnswer> {
  // Of one that is signed by itself it warns, whatever it trusts.
  const args = ['--verbose', '--no-verify-peer', ...HEADERS];
  const out = await withHealthRequest((file) =>
    runProgram('nghttp', [...args, `--data=${file}`, urlOf(target) + HEALTH_PATH]),
  );
  const received = (name: string) => new RegExp(`recv \\(stream_id=\\d+\\) ${name}: (.*)`).exec(out)?.[1];
  return {
    status: received(':status'),
    contentType: received('content-type'),
    // Between the lines of the frames: nghttp writes bytes as they come, and then of which frame they were.
    body: Buffer.from(/response header\n(.*?)\[ *[\d.]+\] recv DATA/s.exec(out)?.[1] ?? '', 'latin1').toString('hex'),
    grpcStatus: received('grpc-status'),
  };
}

/** What h2load counted. */
export interface LoadCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly errored: number;
  readonly timeout: number;
  readonly status2xx: number;
  readonly dataBytes: number;
}

/** Of a load of which every request was answered with a message. */
export const ALL_ANSWERED: LoadCounts = {
  succeeded: LOAD.requests,
  failed: 0,
  errored: 0,
  timeout: 0,
  status2xx: LOAD.requests,
  dataBytes: LOAD.requests * ANSWER_BYTES,
};

/** Posts many health checks at once by h2load. */
export async function loadByH2load(target: Target): Promise<LoadCounts> {
  const path = socketPath(target);
  const { requests, connections, streams } = LOAD;
  const args = ['-n', String(requests), '-c', String(connections), '-m', String(streams), ...HEADERS];
  if (path !== null) args.push(`--base-uri=unix:${path}`);
  const out = await withHealthRequest((file) =>
    runProgram('h2load', [...args, `--data=${file}`, urlOf(target) + HEALTH_PATH]),
  );
  const count = (pattern: RegExp): number => Number(pattern.exec(out)?.[1]);
  return {
    succeeded: count(/(\d+) succeeded/),
    failed: count(/(\d+) failed/),
    errored: count(/(\d+) errored/),
    timeout: count(/(\d+) timeout/),
    status2xx: count(/(\d+) 2xx/),
    dataBytes: count(/\((\d+)\) data/),
  };
}
