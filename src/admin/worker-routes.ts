import type { Context } from 'hono';
import { isPoolUrl, readDeclaration } from '../discovery/dns/name-pool.ts';
import type { Log } from '../telemetry/log.ts';
import type { DrainOutcome } from '../workers/fleet-changes.ts';
import { parseWorkerSpec, patchWorkerSpec, type SpecResult } from '../workers/worker-spec.ts';
import { rankProblem, schemeProblem, type WorkerScheme } from '../workers/worker-url.ts';
import type { PinCensus } from './dashboard/pin-census.ts';
import { errorResponse } from './error-response.ts';
import type { FleetAdmin, NamesAdmin, Registration } from './fleet-admin.ts';
import { readJsonBody } from './json-body.ts';
import type { AdminEnv, Route } from './route.ts';
import { engineJson, poolJson, workerJson, workerStats } from './worker-json.ts';

type AdminContext = Context<AdminEnv>;

/** Routes of `/workers` (interface 9). Changes are accepted at once and take effect as the registry can. */
export function workerRoutes(
  fleet: FleetAdmin,
  names: NamesAdmin,
  log: Log,
  schemes: ReadonlySet<WorkerScheme>,
  census: Pick<PinCensus, 'look'>,
): readonly Route[] {
  const changed = (c: AdminContext, id: string, message: string): Response => {
    log.info(`worker: ${message}`, { worker: id, actor: c.get('caller')?.id ?? 'anyone' });
    return accepted(id, message);
  };

  const list = (): Response => {
    const { workers } = fleet.current;
    const pins = census.look();
    const shown = workers.flatMap(({ id }) => fleet.instance(id) ?? []).map((each) => workerJson(each, pins));
    return Response.json({ workers: shown, total: shown.length, stats: workerStats(workers) });
  };

  const get = (c: AdminContext): Response => {
    const id = idOf(c);
    const registration = fleet.instance(id);
    const pins = census.look();
    if (registration !== undefined) return Response.json(workerJson(registration, pins));
    const found = names.workersOf(id);
    if (found !== undefined)
      return Response.json(
        poolJson(
          id,
          found.flatMap((each) => fleet.named(each)),
          pins,
        ),
      );
    const ranks = fleet.named(id);
    return ranks.length === 0 ? unknown(id) : Response.json(engineJson(id, ranks, pins));
  };

  const add = async (c: AdminContext): Promise<Response> => {
    const body = await readJsonBody(c.req.raw);
    if (!body.ok) return body.response;
    const parsed = readDeclaration(body.value);
    if (parsed.kind === 'wrong') return invalid(parsed);
    if (parsed.kind === 'pool') {
      const { id } = parsed.pool;
      if (names.add(parsed.pool)) return changed(c, id, 'Workers are being added');
      return errorResponse('worker_already_exists', `Worker ${id} is registered`);
    }
    const problem = rankProblem(parsed.spec.url, fleet.dpAware) ?? schemeProblem(parsed.spec.url, schemes);
    if (problem !== null) return errorResponse('bad_request', problem);
    const { kind, worker } = fleet.add(parsed.spec, 'api');
    if (kind === 'exists') {
      const leaving = isLeaving(fleet.named(worker.id));
      const state = leaving ? 'is being removed: add it again when it is gone' : 'is registered';
      return errorResponse('worker_already_exists', `Worker ${worker.id} ${state}`);
    }
    return changed(c, worker.id, 'Worker is being added');
  };

  const replace = async (c: AdminContext): Promise<Response> => {
    const id = idOf(c);
    if (names.workersOf(id) !== undefined) return unchangeable(id);
    if (fleet.named(id).length === 0) return unknown(id);
    const body = await readJsonBody(c.req.raw);
    if (!body.ok) return body.response;
    const parsed = parseWorkerSpec(withUrl(body.value, id));
    if (!parsed.ok) return invalid(parsed);
    if (parsed.spec.url.id !== id) return errorResponse('bad_request', `url must be ${id} or be left out`);
    if (isLeaving(fleet.named(id))) return removing(id);
    return fleet.replace(parsed.spec) === undefined ? unknown(id) : changed(c, id, 'Worker is being replaced');
  };

  const update = async (c: AdminContext): Promise<Response> => {
    const id = idOf(c);
    const body = await readJsonBody(c.req.raw);
    if (!body.ok) return body.response;
    if (names.workersOf(id) !== undefined) return unchangeable(id);
    const named = fleet.named(id);
    if (named.length === 0) return unknown(id);
    if (isLeaving(named)) return removing(id);
    // Each rank of an engine keeps what only it was told.
    for (const { spec } of named) {
      const parsed = patchWorkerSpec(spec, body.value);
      if (!parsed.ok) return invalid(parsed);
      fleet.update(parsed.spec);
    }
    return changed(c, id, 'Worker is being updated');
  };

  const remove = (c: AdminContext): Response => {
    const id = idOf(c);
    if (names.remove(id)) return changed(c, id, 'Workers are being removed');
    return fleet.remove(id) === 'unknown' ? unknown(id) : changed(c, id, 'Worker is being removed');
  };

  const drained = (c: AdminContext, id: string, outcome: DrainOutcome, message: string): Response => {
    if (outcome === 'unknown') return unknown(id);
    if (outcome === 'removing') return removing(id);
    return changed(c, id, message);
  };
  const drain = (c: AdminContext) => {
    if (isPoolUrl(idOf(c))) return unchangeable(idOf(c));
    return drained(c, idOf(c), fleet.drain(idOf(c)), 'Worker is draining');
  };
  const undrain = (c: AdminContext) => {
    if (isPoolUrl(idOf(c))) return unchangeable(idOf(c));
    return drained(c, idOf(c), fleet.undrain(idOf(c)), 'Worker takes new keys again');
  };

  return [
    { method: 'GET', path: '/workers', access: 'user', handle: list },
    { method: 'POST', path: '/workers', access: 'admin', handle: add },
    { method: 'GET', path: '/workers/:id', access: 'user', handle: get },
    { method: 'PUT', path: '/workers/:id', access: 'admin', handle: replace },
    { method: 'PATCH', path: '/workers/:id', access: 'admin', handle: update },
    { method: 'DELETE', path: '/workers/:id', access: 'admin', handle: remove },
    { method: 'POST', path: '/workers/:id/drain', access: 'admin', handle: drain },
    { method: 'POST', path: '/workers/:id/undrain', access: 'admin', handle: undrain },
  ];
}

/** The worker id of the path, decoded: it is a URL, so its slashes come as `%2F`. */
function idOf(c: AdminContext): string {
  return c.req.param('id') ?? '';
}

/** A replacement need not repeat the URL that its path names. */
function withUrl(body: unknown, url: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { url, ...body };
}

function accepted(id: string, message: string): Response {
  const location = `/workers/${encodeURIComponent(id)}`;
  const body = { status: 'accepted', worker_id: id, url: id, location, message };
  return Response.json(body, { status: 202, headers: { location } });
}

/** A removal that runs would take the change along. */
function isLeaving(named: readonly Registration[]): boolean {
  return named.some(({ drain }) => drain?.kind === 'removal');
}

function removing(id: string): Response {
  return errorResponse('worker_removing', `Worker ${id} is being removed: add it again when it is gone`);
}

function unknown(id: string): Response {
  return errorResponse('worker_not_found', `No worker has the id ${JSON.stringify(id)}`);
}

/** Its workers come and go with the answers of DNS. */
function unchangeable(id: string): Response {
  return errorResponse(
    'bad_request',
    `${id} stands for several workers: remove it and add it again, or name one of them`,
  );
}

function invalid({ issues }: Pick<Extract<SpecResult, { ok: false }>, 'issues'>): Response {
  return errorResponse('bad_request', issues.map(({ message }) => message).join('; '));
}
