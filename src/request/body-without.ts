/** Removal of members of a whole body; every other byte of its members stays as it is. */
import type { JsonScan, MemberNames } from './json-scanner.ts';
import { eachMember, insideOf } from './whole-members.ts';

/**
 * The body without the members of these names, each time they appear. The same bytes when there are none of them.
 *
 * @param scan of a whole object (`status` is `object`)
 * @param names the names of the scan, or its first ones
 * @param unwanted indexes of names
 */
export function withoutMembers(scan: JsonScan, names: MemberNames, unwanted: readonly number[]): Buffer {
  const { bytes } = scan;
  if (!unwanted.some((member) => (scan.starts[member] ?? -1) >= 0)) return bytes;
  let last = insideOf(bytes);
  const pieces = [bytes.subarray(0, last)];
  eachMember(bytes, (name, nameEnd, _, valueEnd) => {
    last = valueEnd;
    if (unwanted.includes(names.find(bytes, name, nameEnd))) return;
    if (pieces.length > 1) pieces.push(SEPARATOR);
    pieces.push(bytes.subarray(name, valueEnd));
  });
  pieces.push(bytes.subarray(last));
  return Buffer.concat(pieces);
}

const SEPARATOR = Buffer.from(',');
