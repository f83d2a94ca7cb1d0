/** All samples of one metric name. */
export interface Series {
  sum: number;
  count: number;
}

/**
 * Sums up the series of the metrics named in a Prometheus text exposition, over their labels. Samples that are no
 * number, infinite, or larger than any load, are passed over, as is everything that is no sample. Never throws. O(length of the text), without an allocation
 * for lines of other metrics, as an engine's exposition may be a megabyte.
 */
export function readSeries(text: string, names: ReadonlySet<string>): ReadonlyMap<string, Series> {
  const found = new Map<string, Series>();
  const first = new Set([...names].map((name) => name.charCodeAt(0)));
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const start = afterBlanks(text, at, end);
    if (first.has(text.charCodeAt(start))) readSample(text, start, end, names, found);
    at = end + 1;
  }
  return found;
}

function readSample(
  text: string,
  start: number,
  end: number,
  names: ReadonlySet<string>,
  found: Map<string, Series>,
): void {
  const nameEnd = nameEndOf(text, start, end);
  const name = text.slice(start, nameEnd);
  if (!names.has(name)) return;
  const at = afterBlanks(text, nameEnd, end);
  const valueAt = text.charCodeAt(at) === BRACE_OPEN ? labelsEndOf(text, at + 1, end) : at;
  const value = numberAt(text, afterBlanks(text, valueAt, end), end);
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return;
  const series = found.get(name);
  if (series === undefined) found.set(name, { sum: value, count: 1 });
  else {
    series.sum += value;
    series.count += 1;
  }
}

const TAB = 0x09;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === RETURN;
}

function afterBlanks(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function nameEndOf(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) !== BRACE_OPEN && !isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Past the brace that ends the labels; a quoted value may hold braces and escaped quotes. `end` when none does. */
function labelsEndOf(text: string, from: number, end: number): number {
  let quoted = false;
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (quoted && code === BACKSLASH) at++;
    else if (code === QUOTE) quoted = !quoted;
    else if (code === BRACE_CLOSE && !quoted) return at + 1;
  }
  return end;
}

/** The number that begins at `from`; a timestamp may follow. NaN when there is none. */
function numberAt(text: string, from: number, end: number): number {
  let to = from;
  while (to < end && !isBlank(text.charCodeAt(to))) to++;
  return to === from ? Number.NaN : Number(text.slice(from, to));
}
