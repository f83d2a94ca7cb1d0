const PLUS = 0x2b;
const PERCENT = 0x25;
const EQUALS = 0x3d;
const SPACE = 0x20;

/**
 * Decoded bytes of the first query parameter of that name: `+` is a blank, `%XX` a byte, and a percent sign that begins no
 * such code stands for itself, as URLSearchParams has it. Undefined when there is none. Hot path.
 *
 * @param path `:path` with its query; a fragment does not come over the wire
 * @param name decoded, as bytes
 * @param most bytes; of a longer value, one byte more than that is decoded
 */
export function queryValue(path: string, name: Buffer, most: number): Buffer | undefined {
  const query = path.indexOf('?');
  if (query < 0) return undefined;
  let start = query + 1;
  while (start < path.length) {
    let end = path.indexOf('&', start);
    if (end < 0) end = path.length;
    const value = valueStart(path, start, end, name);
    if (value >= 0) return decoded(path, value, end, most);
    start = end + 1;
  }
  return undefined;
}

/** Where the value of a pair begins if its name is `name`, else -1. A pair without an equals sign has an empty value. */
function valueStart(path: string, start: number, end: number, name: Buffer): number {
  if (start === end) return -1;
  let i = start;
  for (let at = 0; at < name.length; at++) {
    if (i >= end || path.charCodeAt(i) === EQUALS || byteAt(path, i, end) !== name[at]) return -1;
    i += widthAt(path, i, end);
  }
  if (i === end) return end;
  return path.charCodeAt(i) === EQUALS ? i + 1 : -1;
}

function decoded(path: string, start: number, end: number, most: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(end - start, most + 1));
  let length = 0;
  for (let i = start; i < end && length < bytes.length; i += widthAt(path, i, end)) {
    bytes[length++] = byteAt(path, i, end);
  }
  return bytes.subarray(0, length);
}

/** A path holds bytes, each of them one character. */
function byteAt(path: string, i: number, end: number): number {
  const code = path.charCodeAt(i);
  if (code === PLUS) return SPACE;
  return code === PERCENT && widthAt(path, i, end) === 3 ? (hexAt(path, i + 1) << 4) | hexAt(path, i + 2) : code & 0xff;
}

function widthAt(path: string, i: number, end: number): 1 | 3 {
  if (path.charCodeAt(i) !== PERCENT || i + 2 >= end) return 1;
  return hexAt(path, i + 1) >= 0 && hexAt(path, i + 2) >= 0 ? 3 : 1;
}

/** Value of a hex digit, -1 for any other character. */
function hexAt(path: string, i: number): number {
  const code = path.charCodeAt(i);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
