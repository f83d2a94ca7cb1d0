/** What a request says, read from its head and as much of its body as was handed over. Hot path. */
import { type BodyError, readBody } from '../request/body-fields.ts';
import { ScannedKeys } from '../request/body-keys.ts';
import { bodyKindOf, isIdentity } from '../request/body-kind.ts';
import { promptOf } from '../request/body-prompt.ts';
import { type Endpoint, endpointOf } from '../request/endpoint.ts';
import type { JsonScan } from '../request/json-scanner.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { OpaqueReason } from '../telemetry/own-metrics.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { BodyBytes, BodyPlan } from './answer.ts';
import { contentLength } from './content-length.ts';
import { selectionOf } from './endpoint-selection.ts';
import { fleetFor } from './fleet-for.ts';
import type { PickerConfig } from './picker-parts.ts';
import type { ReadableBody } from './worker-body.ts';

/** What was read of a request. Routing sees no more of it than it needs. */
export interface ReadRequest extends RoutingRequest, ReadableBody {
  /** Whether it asks for a streamed answer; null where its body does not say. */
  readonly streaming: boolean | null;
}

/** A request that is refused before it can be routed. */
export class Unreadable {
  /** Null for a body over the limit. */
  readonly error: BodyError | null;

  constructor(error: BodyError | null) {
    this.error = error;
  }
}

/** Told what is particular about a body. */
export interface BodyNotes {
  /** Only its beginning came. */
  partialBody(): void;
  /** Its bytes cannot tell anything (decisions 35). */
  opaqueBody(reason: OpaqueReason): void;
}

const NO_BODY: BodyPlan = { readBody: false, reason: 'no_body' };
const NOT_JSON: BodyPlan = { readBody: false, reason: 'not_json' };
const HEADERS_SUFFICE: BodyPlan = { readBody: false, reason: 'header_only' };
const TAKES_RANK: BodyPlan = { readBody: true, reason: 'worker_mutates_body' };
const MAY_NAME_ALIAS: BodyPlan = { readBody: true, reason: 'model_alias' };
const TOO_LARGE = new Unreadable(null);

/** Whether the body of a request must be read to place it (sticky-sessions 4 in the form of 11.2). Changes nothing. */
export function planOf(head: RequestHead, fleet: WorkerSnapshot, config: PickerConfig): BodyPlan {
  const kind = bodyKindOf(head);
  if (kind === 'none' || kind === 'tunnel') return NO_BODY;
  if (config.testEndpointSelection && selectionOf(head) !== null) return HEADERS_SUFFICE;
  const endpoint = endpointOf(head.path);
  if (kind === 'opaque' || !endpoint.isJson) return NOT_JSON;
  if (contentLength(head) > config.maxPayloadBytes) return HEADERS_SUFFICE;
  const need = config.router.bodyNeed(head, fleet, endpoint);
  if (need !== null) return { readBody: true, reason: need };
  if (fleet.ranked) return TAKES_RANK;
  return config.modelAliases.size > 0 ? MAY_NAME_ALIAS : HEADERS_SUFFICE;
}

/** @param body what was read of it, null when it was not read */
export function readRequest(
  head: RequestHead,
  body: BodyBytes | null,
  fleet: WorkerSnapshot,
  config: PickerConfig,
  notes: BodyNotes,
): ReadRequest | Unreadable {
  const endpoint = endpointOf(head.path);
  const seen = body?.complete ? body.bytes.length : contentLength(head);
  if (seen > config.maxPayloadBytes) return TOO_LARGE;

  let rid: string | null = null;
  let members: JsonScan | null = null;
  let streaming: boolean | null = null;
  let canonicalModel: string | null = null;
  // Until the body says more: the model that nobody needs to name.
  const { soleModel, disaggregated } = fleetFor(head, fleet);
  let model = soleModel;
  if (body !== null && isReadable(head, body, endpoint, notes)) {
    const fields = readBody(body.bytes, body.complete, endpoint, config.bodyMembers);
    if (fields.kind === 'error') return new Unreadable(fields);
    ({ rid, members, streaming } = fields);
    canonicalModel = config.modelAliases.get(fields.model) ?? null;
    if (body.complete || fields.model !== '') model = canonicalModel ?? fields.model;
  }
  const whole = body?.complete ? members : null;
  const bodyKeys = members === null ? null : new ScannedKeys(endpoint.kind, members, rid);
  // SMG does not look at the token hint of a request that is split (policies 4.5).
  const prompt = promptOf(disaggregated ? null : head, endpoint.kind, members);
  return { head, model, bodyKeys, prompt, streaming, whole, canonicalModel };
}

function isReadable(head: RequestHead, body: BodyBytes, endpoint: Endpoint, notes: BodyNotes): boolean {
  if (!body.complete) notes.partialBody();
  if (body.bytes.length === 0) {
    notes.opaqueBody('empty');
    return false;
  }
  if (bodyKindOf(head) === 'json' && endpoint.isJson) return true;
  notes.opaqueBody(isIdentity(head) ? 'not_json' : 'encoded');
  return false;
}
