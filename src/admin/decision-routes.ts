import type { Context } from 'hono';
import type { DecisionRing, RecordedDecision } from '../picker/decision-ring.ts';
import { RING_SIZE } from '../picker/decision-ring.ts';
import { FILTER_QUERY, matcherOf, readFilter } from './decision-filter.ts';
import { decisionJson } from './decision-json.ts';
import { type DecisionStreams, MAX_READERS } from './decision-stream.ts';
import { errorResponse } from './error-response.ts';
import type { AdminEnv, Route } from './route.ts';

export interface DecisionRouteParts {
  readonly ring: DecisionRing;
  readonly streams: DecisionStreams;
}

type AdminContext = Context<AdminEnv>;

const DEFAULT_LIMIT = 100;
const DEFAULT_RATE = 50;
const LIST_QUERY = new Set<string>([...FILTER_QUERY, 'limit']);
const STREAM_QUERY = new Set<string>([...LIST_QUERY, 'rate']);
const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** `GET /decisions` and its stream (interface 9). Looking is what makes the ring record, unless it is off. */
export function decisionRoutes({ ring, streams }: DecisionRouteParts): readonly Route[] {
  const list = (c: AdminContext): Response => {
    const asked = readQuery(c, LIST_QUERY, DEFAULT_LIMIT);
    if ('problem' in asked) return errorResponse('bad_request', asked.problem);
    ring.wake();
    const { next, since, mode } = ring;
    return Response.json({
      decisions: latest(ring, asked.wanted, asked.limit).map(decisionJson),
      next,
      recording: {
        mode,
        since: since === null ? null : new Date(since).toISOString(),
        size: RING_SIZE,
        left_out: ring.leftOut,
      },
    });
  };

  const stream = (c: AdminContext): Response => {
    const asked = readQuery(c, STREAM_QUERY, 0);
    if ('problem' in asked) return errorResponse('bad_request', asked.problem);
    if (ring.mode === 'off') {
      return errorResponse('decisions_off', 'No decision is recorded: start with --decision-ring auto or on');
    }
    const { wanted, limit, perSecond } = asked;
    // Who asks for the head alone would never end the stream.
    if (c.req.method === 'HEAD') return new Response(null, { headers: SSE_HEADERS });
    const resumed = resumeAt(c, ring);
    const from = resumed ?? latest(ring, wanted, limit).at(-1)?.seq ?? ring.next;
    const body = streams.open({ wanted, from, backlog: resumed === null ? limit : RING_SIZE, perSecond });
    if (body === null) {
      const message = `${MAX_READERS} readers are there already, or the service is about to end: try again later`;
      return errorResponse('too_many_readers', message, { 'retry-after': '2' });
    }
    return new Response(body, { headers: SSE_HEADERS });
  };

  return [
    { method: 'GET', path: '/decisions', access: 'user', handle: list },
    { method: 'GET', path: '/decisions/stream', access: 'user', handle: stream },
  ];
}

interface Asked {
  readonly wanted: (record: RecordedDecision) => boolean;
  readonly limit: number;
  readonly perSecond: number;
}

function readQuery(c: AdminContext, known: ReadonlySet<string>, limitUnset: number): Asked | { problem: string } {
  const unknown = Object.keys(c.req.query()).find((name) => !known.has(name));
  if (unknown !== undefined) {
    return { problem: `${JSON.stringify(unknown)} is no parameter: expected ${[...known].join(', ')}` };
  }
  const limit = numberIn(c.req.query('limit') ?? String(limitUnset), limitUnset === 0 ? 0 : 1);
  if (limit === null) return { problem: `limit ${JSON.stringify(c.req.query('limit'))}: ${RANGE}` };
  const perSecond = numberIn(c.req.query('rate') ?? String(DEFAULT_RATE), 1);
  if (perSecond === null) return { problem: `rate ${JSON.stringify(c.req.query('rate'))}: ${RANGE}` };
  const filter = readFilter((name) => c.req.query(name));
  if (!filter.ok) return { problem: filter.problem };
  return { wanted: matcherOf(filter.filter), limit, perSecond };
}

const RANGE = `expected a number from 1 to ${RING_SIZE}`;

function numberIn(text: string, least: number): number | null {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  return value >= least && value <= RING_SIZE ? value : null;
}

/** The last ones first. */
function latest(ring: DecisionRing, wanted: Asked['wanted'], limit: number): readonly RecordedDecision[] {
  const found: RecordedDecision[] = [];
  for (let seq = ring.next - 1; seq >= ring.oldest && found.length < limit; seq--) {
    const record = ring.at(seq);
    if (record !== null && wanted(record)) found.push(record);
  }
  return found;
}

/** Where a reader that was cut off goes on; null for a new one, and for one from before a restart. */
function resumeAt(c: AdminContext, ring: DecisionRing): number | null {
  const last = c.req.header('last-event-id') ?? '';
  const seq = /^\d{1,15}$/.test(last) ? Number(last) + 1 : Number.NaN;
  return seq >= 1 && seq <= ring.next ? seq : null;
}
