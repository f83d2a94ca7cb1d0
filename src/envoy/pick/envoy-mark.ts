import { ENVOY_MARK_PERIODIC } from '../names.ts';

/**
 * Interval of periodic access-log entries that the mark promises, in milliseconds; 0 for none or an unreadable value.
 * Null: no mark, the configuration is not ours.
 */
export function periodicLogMs(mark: string | undefined): number | null {
  if (mark === undefined) return null;
  const start = mark.indexOf(ENVOY_MARK_PERIODIC);
  if (start < 0) return 0;
  const seconds = Number.parseInt(mark.slice(start + ENVOY_MARK_PERIODIC.length), 10);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
