/** Changes of single members of a whole body; every other byte stays as it is. */
import type { JsonScan, MemberNames } from './json-scanner.ts';
import { CLOSE_BRACE, JsonWalker } from './json-walker.ts';
import { eachMember, insideOf } from './whole-members.ts';

/** What a member of the top level shall be. */
export interface MemberValue {
  /** Index of its name. */
  readonly member: number;
  /** Its value as JSON. */
  readonly json: string;
}

/** `text` in the place of the bytes from `from` to `to`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * A copy of a body in which each of `values` stands: in the place of the member's value, of each where the name is repeated,
 * since readers differ in which of them counts; else as a new member in front.
 *
 * @param scan of a whole object (`status` is `object`)
 * @param names the names of the scan, or its first ones
 * @param values of different members
 */
export function setMembers(scan: JsonScan, names: MemberNames, values: readonly MemberValue[]): Buffer {
  const { bytes } = scan;
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const { member, json } of values) {
    const start = scan.starts[member] ?? -1;
    if (start < 0) added.push(`${JSON.stringify(names.names[member])}:${json}`);
    else if ((scan.repeats[member] ?? -1) < 0) edits.push({ from: start, to: scan.ends[member] ?? start, text: json });
    else {
      eachMember(bytes, (name, nameEnd, from, to) => {
        if (names.find(bytes, name, nameEnd) === member) edits.push({ from, to, text: json });
      });
    }
  }
  edits.sort((a, b) => a.from - b.from);
  if (added.length > 0) edits.unshift(insertion(bytes, added));
  return apply(bytes, edits);
}

function insertion(bytes: Buffer, added: readonly string[]): Edit {
  const inside = insideOf(bytes);
  const isEmpty = new JsonWalker(bytes, inside).next() === CLOSE_BRACE;
  return { from: inside, to: inside, text: added.join(',') + (isEmpty ? '' : ',') };
}

/** @param edits in order, not overlapping */
function apply(bytes: Buffer, edits: readonly Edit[]): Buffer {
  let length = bytes.length;
  for (const { from, to, text } of edits) length += Buffer.byteLength(text) - (to - from);
  const edited = Buffer.allocUnsafe(length);
  let read = 0;
  let written = 0;
  for (const { from, to, text } of edits) {
    written += bytes.copy(edited, written, read, from);
    written += edited.write(text, written);
    read = to;
  }
  bytes.copy(edited, written, read);
  return edited;
}
