const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Raw value of the first cookie of that name, without the quotes around it; undefined when there is none. Nothing is
 * decoded (RFC 6265 4.1.1 and 5.2). Hot path.
 *
 * @param header value of the `cookie` header. There is one (RFC 6265 5.4); Envoy joins the crumbs of HTTP/2 (RFC 9113 8.2.3)
 * @param name case-sensitive
 */
export function cookieValue(header: Uint8Array, name: Uint8Array): Uint8Array | undefined {
  let start = 0;
  while (start < header.length) {
    const semicolon = header.indexOf(SEMICOLON, start);
    const end = semicolon < 0 ? header.length : semicolon;
    const from = skipBlanks(header, start, end);
    const behind = from + name.length;
    if (startsWith(header, from, end, name)) {
      const equals = skipBlanks(header, behind, end);
      if (equals < end && header[equals] === EQUALS) return unquoted(header, equals + 1, end);
    }
    start = end + 1;
  }
  return undefined;
}

function unquoted(header: Uint8Array, start: number, end: number): Uint8Array {
  let from = skipBlanks(header, start, end);
  let to = end;
  while (to > from && isBlank(header[to - 1])) to--;
  if (to - from >= 2 && header[from] === QUOTE && header[to - 1] === QUOTE) {
    from++;
    to--;
  }
  return header.subarray(from, to);
}

function startsWith(header: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start < name.length) return false;
  for (let i = 0; i < name.length; i++) if (header[start + i] !== name[i]) return false;
  return true;
}

function skipBlanks(header: Uint8Array, start: number, end: number): number {
  let i = start;
  while (i < end && isBlank(header[i])) i++;
  return i;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
