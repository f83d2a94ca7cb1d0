/** The two bodies of a request whose prefill is done before its decode begins, as vLLM wants it (policies 4.4). */
import { type MemberValue, setMembers } from '../request/body-edit.ts';
import { withoutMembers } from '../request/body-without.ts';
import type { EndpointKind } from '../request/endpoint.ts';
import { type JsonScan, scanObject } from '../request/json-scanner.ts';
import {
  DATA_PARALLEL_RANK,
  KV_TRANSFER_PARAMS,
  MAX_COMPLETION_TOKENS,
  MAX_OUTPUT_TOKENS,
  MAX_TOKENS,
  MEMBERS,
  MIN_TOKENS,
  MODEL,
  N,
  STREAM,
  STREAM_OPTIONS,
} from './members.ts';

/** What a leg is told besides what the client said. */
export interface LegFields {
  /** Canonical model; null where the client's word stands. */
  readonly model: string | null;
  /** Data-parallel rank of the leg's worker; null for none. */
  readonly rank: number | null;
  /** `kv_transfer_params` as JSON; null where none are added. */
  readonly kvTransferParams: string | null;
  /** The client's own may stay where none are added: whom a worker connects to by them is no business of a client. */
  readonly keepsClients: boolean;
}

/** True when one prefill cannot serve all answers of the request: it goes to the decode worker alone. */
export function wantsSeveral(scan: JsonScan): boolean {
  const start = scan.starts[N] ?? -1;
  return start >= 0 && Number(scan.bytes.toString('latin1', start, scan.ends[N])) > 1;
}

/**
 * Body of the prefill leg: the same prompt, answered at once and with one token.
 *
 * @param scan of the client's body, made with `MEMBERS`
 */
export function prefillBody(scan: JsonScan, endpoint: EndpointKind, fields: LegFields): Buffer {
  const cap = capOf(scan, endpoint);
  const unwanted = [...ALWAYS_DROPPED, ...dropped(fields)];
  if (cap === MAX_COMPLETION_TOKENS) unwanted.push(MAX_TOKENS);
  const values: MemberValue[] = [
    { member: STREAM, json: 'false' },
    { member: cap, json: '1' },
  ];
  if ((scan.starts[N] ?? -1) >= 0) values.push({ member: N, json: '1' });
  return edited(withoutMembers(scan, MEMBERS, unwanted), values, fields);
}

const ALWAYS_DROPPED: readonly number[] = [STREAM_OPTIONS, MIN_TOKENS];

/** Body of the decode leg; null when the client's own can go on. */
export function decodeBody(scan: JsonScan, fields: LegFields): Buffer | null {
  const { model, rank, kvTransferParams } = fields;
  const kept = withoutMembers(scan, MEMBERS, dropped(fields));
  const same = model === null && rank === null && kvTransferParams === null;
  return same ? (kept === scan.bytes ? null : kept) : edited(kept, [], fields);
}

function dropped({ kvTransferParams, keepsClients }: LegFields): readonly number[] {
  return kvTransferParams === null && !keepsClients ? [KV_TRANSFER_PARAMS] : [];
}

/** The member that limits the answer's length. */
function capOf(scan: JsonScan, endpoint: EndpointKind): number {
  if (endpoint === 'responses') return MAX_OUTPUT_TOKENS;
  return endpoint === 'chat' && (scan.starts[MAX_COMPLETION_TOKENS] ?? -1) >= 0 ? MAX_COMPLETION_TOKENS : MAX_TOKENS;
}

function edited(body: Buffer, values: MemberValue[], { model, rank, kvTransferParams }: LegFields): Buffer {
  if (model !== null) values.push({ member: MODEL, json: JSON.stringify(model) });
  if (rank !== null) values.push({ member: DATA_PARALLEL_RANK, json: String(rank) });
  if (kvTransferParams !== null) values.push({ member: KV_TRANSFER_PARAMS, json: kvTransferParams });
  return setMembers(scanObject(body, MEMBERS), MEMBERS, values);
}
