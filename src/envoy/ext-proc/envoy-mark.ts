/** gRPC metadata by which our generated configuration makes itself known on every call. */
export const ENVOY_MARK = 'x-smg-envoy';

const PERIODIC = 'periodic=';

/**
 * Interval of periodic access-log entries that the mark promises, in milliseconds; 0 for none or an unreadable value.
 * Null: no mark, the configuration is not ours.
 */
export function periodicLogMs(mark: string | undefined): number | null {
  if (mark === undefined) return null;
  const start = mark.indexOf(PERIODIC);
  if (start < 0) return 0;
  const seconds = Number.parseInt(mark.slice(start + PERIODIC.length), 10);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
