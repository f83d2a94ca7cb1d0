const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Whether a value is an integer as JSON spells them: no plus, no leading zero, no fraction, no exponent. Hot path. */
export function isInteger(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  if (first >= end || (bytes[first] === DIGIT_0 && end - first > 1)) return false;
  for (let i = first; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return false;
  }
  return true;
}
