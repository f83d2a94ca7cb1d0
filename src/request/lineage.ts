const UNDERSCORE = '_';
const LETTER_R = 0x72;
const LETTER_T = 0x74;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/**
 * The conversation that a key belongs to: one retry suffix `_r<digits>`, then one turn suffix `_t<digits>` is dropped from
 * the end, each at most once. A value of which nothing would be left stays as it is (sticky-sessions 2.2).
 */
export function stripLineage(value: string): string {
  const withoutRetry = suffixStart(value, value.length, LETTER_R);
  const end = suffixStart(value, withoutRetry, LETTER_T);
  return end === 0 || end === value.length ? value : value.slice(0, end);
}

/** Where `_<letter><digits>` begins if it ends the first `end` characters of `value`, else `end`. */
function suffixStart(value: string, end: number, letter: number): number {
  const start = value.lastIndexOf(UNDERSCORE, end - 1);
  if (start < 0 || end - start < 3 || value.charCodeAt(start + 1) !== letter) return end;
  for (let i = start + 2; i < end; i++) {
    const code = value.charCodeAt(i);
    if (code < DIGIT_0 || code > DIGIT_9) return end;
  }
  return start;
}
