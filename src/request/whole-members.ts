import { COMMA, JsonWalker, OPEN_BRACE, QUOTE } from './json-walker.ts';

/** Told of one member; positions are byte offsets, behind the last byte where something ends. */
export type VisitMember = (name: number, nameEnd: number, value: number, valueEnd: number) => void;

/** Behind the opening brace, before which nothing but white space and a byte order mark can stand. */
export function insideOf(bytes: Buffer): number {
  return bytes.indexOf(OPEN_BRACE) + 1;
}

/**
 * Visits every member of the top level, which a scan does not tell where a name is repeated.
 *
 * @param bytes a whole object (`status` of its scan is `object`)
 */
export function eachMember(bytes: Buffer, visit: VisitMember): void {
  const walker = new JsonWalker(bytes, insideOf(bytes));
  while (walker.next() === QUOTE) {
    const name = walker.at;
    walker.skipString();
    const nameEnd = walker.at;
    walker.next();
    walker.at++;
    walker.next();
    const value = walker.at;
    walker.skipValue();
    visit(name, nameEnd, value, walker.at);
    if (walker.next() === COMMA) walker.at++;
  }
}
