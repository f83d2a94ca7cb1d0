import type { Context } from 'hono';
import type { PinStore } from '../pins/pin-store.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import type { Log } from '../telemetry/log.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import { errorResponse } from './error-response.ts';
import { readJsonBody } from './json-body.ts';
import { type AddressResult, type PinAddress, type PinRules, pinAddress, unfitness } from './pin-address.ts';
import { deletePin, type FoundPin, findPin, movePin } from './pin-changes.ts';
import { nameJson, pinJson, pinRow } from './pin-json.ts';
import type { AdminEnv, Route } from './route.ts';

type AdminContext = Context<AdminEnv>;

export interface PinAdminParts {
  readonly pins: PinStore;
  readonly fleet: SnapshotSource;
  readonly pinRules: () => PinRules;
  readonly log: Log;
  /** Milliseconds, monotonic: the clock of the pins. */
  readonly clock: () => number;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
/** Of `GET /pins`, and of one pin. */
const LIST_QUERY: ReadonlySet<string> = new Set(['limit', 'cursor']);
const PIN_QUERY: ReadonlySet<string> = new Set(['model', 'leg', 'tenant']);

/** Routes of `/pins` (interface 9). What they change holds for all replicas, or is refused. */
export function pinRoutes({ pins, fleet, pinRules, log, clock }: PinAdminParts): readonly Route[] {
  const addressOf = (c: AdminContext): AddressResult => {
    const unknown = unknownParameter(c, PIN_QUERY);
    if (unknown !== null) return { ok: false, problem: unknown };
    const query = (name: string): string | null => c.req.query(name) ?? null;
    const key = c.req.param('key') ?? '';
    const asked = { key, model: query('model'), leg: query('leg'), tenant: query('tenant') };
    return pinAddress(asked, fleet.current, pinRules());
  };
  const changed = (c: AdminContext, name: string, message: string, worker?: string): void =>
    log.info(`pin: ${message}`, {
      keyHash: keyHash(name),
      actor: c.get('caller')?.id ?? 'anyone',
      ...(worker === undefined ? {} : { worker }),
    });
  const shown = (found: FoundPin): Response => Response.json(pinJson(found, pins.kind !== 'memory', fleet.current));

  const list = (c: AdminContext): Response => {
    const unknown = unknownParameter(c, LIST_QUERY);
    if (unknown !== null) return errorResponse('bad_request', unknown);
    const limit = c.req.query('limit') ?? String(DEFAULT_LIMIT);
    if (!/^\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
      return errorResponse('bad_request', `limit ${JSON.stringify(limit)}: expected a number from 1 to ${MAX_LIMIT}`);
    }
    const page = pins.list(Number(limit), c.req.query('cursor') ?? null, clock());
    const rows = page.pins.map((entry) => pinRow(entry, fleet.current));
    return Response.json({ pins: rows, total: pins.size, cursor: page.cursor, store: pins.kind, away: pins.away });
  };

  const get = async (c: AdminContext): Promise<Response> => {
    const at = addressOf(c);
    if (!at.ok) return errorResponse('bad_request', at.problem);
    const found = await findPin(pins, at.address.names);
    return typeof found === 'string' ? notFound(c, at.address, found) : shown(found);
  };

  const move = async (c: AdminContext): Promise<Response> => {
    const body = await readJsonBody(c.req.raw);
    if (!body.ok) return body.response;
    const at = addressOf(c);
    if (!at.ok) return errorResponse('bad_request', at.problem);
    const worker = workerIdOf(body.value);
    if (worker === null) return errorResponse('bad_request', 'expected {"worker_id": "…"} and nothing else');
    if (pins.away) return unavailable();
    const found = await findPin(pins, at.address.names);
    if (typeof found === 'string') return notFound(c, at.address, found);
    const unfit = unfitness(worker, at.address, fleet.current);
    if (unfit !== null) return errorResponse('pin_worker_unusable', unfit);
    const outcome = await movePin(pins, found.name, worker, clock);
    if (outcome === 'contended') {
      return errorResponse('pin_contended', 'Others wrote the pin again and again at the same time: try once more');
    }
    if (outcome !== 'moved') return notFound(c, at.address, outcome);
    changed(c, found.name, 'moved', worker);
    const after = await findPin(pins, [found.name]);
    return typeof after === 'string' ? notFound(c, at.address, after) : shown(after);
  };

  const forget = async (c: AdminContext): Promise<Response> => {
    const at = addressOf(c);
    if (!at.ok) return errorResponse('bad_request', at.problem);
    const found = await findPin(pins, at.address.names);
    if (typeof found === 'string') return notFound(c, at.address, found);
    const outcome = await deletePin(pins, found.name);
    if (outcome !== 'deleted') return notFound(c, at.address, outcome);
    changed(c, found.name, 'forgotten');
    return Response.json({ status: 'deleted', ...nameJson(found.name), message: 'Pin is forgotten' });
  };

  return [
    { method: 'GET', path: '/pins', access: 'user', handle: list },
    { method: 'GET', path: '/pins/:key', access: 'user', handle: get },
    { method: 'PUT', path: '/pins/:key', access: 'admin', handle: move },
    { method: 'DELETE', path: '/pins/:key', access: 'admin', handle: forget },
  ];
}

/** A misspelt `model` would let a change hit the pin of another one. */
function unknownParameter(c: AdminContext, known: ReadonlySet<string>): string | null {
  const unknown = Object.keys(c.req.query()).find((name) => !known.has(name));
  return unknown === undefined ? null : `${JSON.stringify(unknown)} is no parameter: expected ${[...known].join(', ')}`;
}

function workerIdOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('worker_id' in body)) return null;
  const { worker_id: id } = body;
  return typeof id === 'string' && id !== '' && Object.keys(body).length === 1 ? id : null;
}

function notFound(c: AdminContext, { model, leg, names }: PinAddress, why: 'unknown' | 'away'): Response {
  if (why === 'away') return unavailable();
  const { tenant } = nameJson(names[0] ?? '');
  const whose = tenant === undefined ? '' : tenant === null ? ', of no tenant' : `, tenant ${JSON.stringify(tenant)}`;
  const key = JSON.stringify(c.req.param('key') ?? '');
  return errorResponse(
    'pin_not_found',
    `No pin of the key ${key} for model ${JSON.stringify(model)}, leg ${leg}${whose}`,
  );
}

function unavailable(): Response {
  return errorResponse(
    'pin_store_unavailable',
    'The pin store does not answer: nothing can be told or changed for all replicas now',
  );
}
