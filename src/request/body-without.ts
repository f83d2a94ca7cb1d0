/** Removal of members of a whole body; every other byte of its members stays as it is. */
import type { JsonScan, MemberNames } from './json-scanner.ts';
import { COMMA, JsonWalker, OPEN_BRACE, QUOTE } from './json-walker.ts';

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
  const inside = bytes.indexOf(OPEN_BRACE) + 1;
  const pieces = [bytes.subarray(0, inside)];
  const walker = new JsonWalker(bytes, inside);
  let last = inside;
  while (walker.next() === QUOTE) {
    const name = walker.at;
    walker.skipString();
    const nameEnd = walker.at;
    walker.next();
    walker.at++;
    walker.next();
    walker.skipValue();
    last = walker.at;
    if (!unwanted.includes(names.find(bytes, name, nameEnd))) {
      if (pieces.length > 1) pieces.push(SEPARATOR);
      pieces.push(bytes.subarray(name, last));
    }
    if (walker.next() === COMMA) walker.at++;
  }
  pieces.push(bytes.subarray(last));
  return Buffer.concat(pieces);
}

const SEPARATOR = Buffer.from(',');
