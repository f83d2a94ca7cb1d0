/**
 * Whether a value may go into a header mutation. Envoy answers 500 for a control character in one, even when fail-open
 * (decisions 30, envoy 5.1).
 */
export function isSafeHeaderValue(value: string): boolean {
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return false;
  }
  return true;
}
