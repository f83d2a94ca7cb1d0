/** The two bodies of a request that both legs get at once and meet over a bootstrap room, as SGLang wants it (policies 4.3). */
import { type MemberValue, setMembers } from '../request/body-edit.ts';
import type { EndpointKind } from '../request/endpoint.ts';
import type { JsonScan } from '../request/json-scanner.ts';
import { JsonWalker, OPEN_BRACKET, QUOTE } from '../request/json-walker.ts';
import {
  BOOTSTRAP_HOST,
  BOOTSTRAP_PORT,
  BOOTSTRAP_ROOM,
  DISAGG_PREFILL_DP_RANK,
  INPUT_IDS,
  MEMBERS,
  MODEL,
  N,
  PROMPT,
  ROUTED_DP_RANK,
} from './members.ts';

export interface BootstrapFields {
  /** Host of the prefill worker's URL; an IPv6 address may have brackets. */
  readonly host: string;
  readonly port: number | null;
  /** Canonical model; null where the client's word stands. */
  readonly model: string | null;
  /** Data-parallel ranks of the legs' workers; null for none. */
  readonly prefillRank: number | null;
  readonly decodeRank: number | null;
}

export interface BootstrapBodies {
  readonly prefill: Buffer;
  readonly decode: Buffer;
}

/**
 * @param scan of the client's body, made with `MEMBERS`
 * @param room draws the number of a room, in decimal: 0 to 2^63 − 1
 */
export function bootstrapBodies(
  scan: JsonScan,
  endpoint: EndpointKind,
  fields: BootstrapFields,
  room: () => string,
): BootstrapBodies {
  const { host, port, model, prefillRank, decodeRank } = fields;
  const size = batchSizeOf(scan, endpoint);
  const each = (json: () => string): string =>
    size === null ? json() : `[${Array.from({ length: size }, json).join(',')}]`;
  const both: MemberValue[] = [
    { member: BOOTSTRAP_HOST, json: each(() => JSON.stringify(host.replace(/^\[|\]$/g, ''))) },
    { member: BOOTSTRAP_PORT, json: each(() => String(port)) },
    { member: BOOTSTRAP_ROOM, json: each(room) },
  ];
  if (model !== null) both.push({ member: MODEL, json: JSON.stringify(model) });
  const prefill = [...both];
  const decode = [...both];
  if (prefillRank !== null) {
    prefill.push({ member: ROUTED_DP_RANK, json: String(prefillRank) });
    decode.push({ member: DISAGG_PREFILL_DP_RANK, json: String(prefillRank) });
  }
  if (decodeRank !== null) decode.push({ member: ROUTED_DP_RANK, json: String(decodeRank) });
  return { prefill: setMembers(scan, MEMBERS, prefill), decode: setMembers(scan, MEMBERS, decode) };
}

/** More would be no honest request: each costs a room. */
const MOST_ROOMS = 4096;

/** Sequences that the engine makes of the request; null when it is no batch. */
function batchSizeOf(scan: JsonScan, endpoint: EndpointKind): number | null {
  if (endpoint === 'generate') return sequencesOf(scan, INPUT_IDS);
  if (endpoint === 'completions') return sequencesOf(scan, PROMPT);
  if (endpoint !== 'chat') return null;
  const start = scan.starts[N] ?? -1;
  const n = start < 0 ? 1 : Number(scan.bytes.toString('latin1', start, scan.ends[N]));
  return Number.isInteger(n) && n > 1 && n <= MOST_ROOMS ? n : null;
}

/** Elements of a list of texts or of lists of token ids; null for anything else, which is one sequence. */
function sequencesOf({ bytes, starts }: JsonScan, member: number): number | null {
  const start = starts[member] ?? -1;
  if (start < 0) return null;
  const walker = new JsonWalker(bytes, start);
  if (!walker.enterArray()) return null;
  const first = bytes[walker.at];
  if (first !== OPEN_BRACKET && first !== QUOTE) return null;
  let count = 0;
  do {
    count++;
    if (walker.skipValue() !== 'whole' || count > MOST_ROOMS) return null;
  } while (walker.nextElement());
  return count;
}
