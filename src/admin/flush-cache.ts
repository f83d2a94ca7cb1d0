import type { Log } from '../telemetry/log.ts';
import type { AskWorker } from '../workers/ask-worker.ts';
import { ConcurrencyGate } from '../workers/concurrency-gate.ts';
import { type HttpResult, isOk } from '../workers/http-request.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';
import type { FleetAdmin } from './fleet-admin.ts';
import type { Route } from './route.ts';

const PATH = '/flush_cache';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
const AT_ONCE = 32;

interface Failure {
  readonly worker: string;
  readonly error: string;
}

/**
 * `POST /flush_cache`: asks every worker to drop its prefix cache, whatever its status, with the answers of SMG (smg-observed
 * 8). What our own policies remember stays: where nobody holds a prefix any more, any worker is as good as the last one.
 */
export function flushRoute(fleet: FleetAdmin, log: Log, ask: AskWorker): Route {
  return {
    method: 'POST',
    path: PATH,
    access: 'admin',
    handle: async (c) => {
      const registrations = fleet.current.workers.flatMap(({ id }) => fleet.instance(id) ?? []);
      const signal = c.req.raw.signal;
      const gate = new ConcurrencyGate(AT_ONCE);
      const asked = new Map<string, Promise<string | null>>();
      const outcomes = await Promise.all(
        registrations.map(async ({ worker, spec }): Promise<string | Failure> => {
          // The ranks of an engine share one answer.
          const answer = asked.get(worker.url) ?? gate.run(() => flush(ask, spec, worker.address, signal));
          asked.set(worker.url, answer);
          const problem = await answer;
          if (problem === null) return worker.id;
          return { worker: worker.id, error: `flush_cache failed for worker ${worker.id}${PATH}: ${problem}` };
        }),
      );
      const failed = outcomes.filter((outcome) => typeof outcome !== 'string');
      const successful = outcomes.filter((outcome) => typeof outcome === 'string');
      log.info('caches of workers were flushed', {
        actor: c.get('caller')?.id ?? 'anyone',
        count: successful.length,
        ...(failed.length === 0 ? {} : { reason: `${failed.length} failed` }),
      });
      return answer(successful, failed);
    },
  };
}

/** Why an engine did not do it; null when it did. */
async function flush(ask: AskWorker, spec: WorkerSpec, address: string, signal: AbortSignal): Promise<string | null> {
  const options = { method: 'POST', path: PATH, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal } as const;
  return problemOf(await ask(spec, address, options));
}

function problemOf(result: HttpResult): string | null {
  if (result.kind === 'timeout') return `no answer within ${TIMEOUT_MS / 1000} s`;
  if (result.kind === 'failed') return result.reason;
  return isOk(result.status) ? null : `HTTP ${result.status}`;
}

function answer(successful: readonly string[], failed: readonly Failure[]): Response {
  const total = successful.length + failed.length;
  const counts = {
    workers_flushed: successful.length,
    total_http_workers: total,
    total_grpc_workers: 0,
    total_zmq_workers_skipped: 0,
    total_workers: total,
  };
  if (failed.length === 0) {
    return Response.json({
      status: 'success',
      message: `Successfully flushed cache on all ${total} workers`,
      ...counts,
    });
  }
  const message = `Cache flush: ${successful.length} succeeded, ${failed.length} failed`;
  return Response.json({ status: 'partial_success', message, ...counts, successful, failed }, { status: 206 });
}
