/** The body that a worker gets in the place of the client's (policies 2.4). */
import { type MemberValue, setMembers } from '../request/body-edit.ts';
import { BODY_MEMBERS, DATA_PARALLEL_RANK, MODEL } from '../request/body-members.ts';
import type { JsonScan } from '../request/json-scanner.ts';

/** What is known of a request's body when its worker is. */
export interface ReadableBody {
  /** Its members; null unless all of it was read. */
  readonly whole: JsonScan | null;
  /** The model that its `model` is another name of; null when it is none. */
  readonly canonicalModel: string | null;
}

/**
 * The body with the model's own name and the worker's rank in it; null when neither has to be written, or none can be.
 *
 * @param mostBytes of the body as read and as written
 */
export function bodyFor(
  { whole, canonicalModel }: ReadableBody,
  rank: number | null,
  mostBytes: number,
): Buffer | null {
  if (whole === null || whole.bytes.length > mostBytes) return null;
  if (canonicalModel === null && rank === null) return null;
  const values: MemberValue[] = [];
  if (canonicalModel !== null) values.push({ member: MODEL, json: JSON.stringify(canonicalModel) });
  if (rank !== null) values.push({ member: DATA_PARALLEL_RANK, json: String(rank) });
  const body = setMembers(whole, BODY_MEMBERS, values);
  return body.length > mostBytes ? null : body;
}
