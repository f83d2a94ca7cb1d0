const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);
/** `TimeoutValue` has at most 8 digits. */
const MAX_DIGITS = 8;

/**
 * Milliseconds of a `grpc-timeout` such as `250m`; null when it is none
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Timeout).
 */
export function grpcTimeoutMs(text: string): number | null {
  const digits = text.length - 1;
  if (digits < 1 || digits > MAX_DIGITS) return null;
  const unit = MILLISECONDS.get(text.charAt(digits));
  if (unit === undefined) return null;
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value * unit;
}
