/** Numbers, times and the service's own words as people read them. */

const whole = new Intl.NumberFormat('en');
const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

export function count(value: number): string {
  return whole.format(value);
}

/** A number per second. */
export function rate(value: number): string {
  return value >= 100 || value === 0 ? whole.format(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

export function timeOf(at: string | number | Date): string {
  return clock.format(new Date(at));
}

export function ago(at: string): string {
  const secs = Math.max(0, Math.round((Date.now() - new Date(at).getTime()) / 1000));
  if (secs < 60) return `${secs} s ago`;
  return secs < 3600 ? `${Math.round(secs / 60)} min ago` : `${Math.round(secs / 3600)} h ago`;
}

export function milliseconds(ms: number): string {
  return ms < 1 ? `${Math.round(ms * 1000)} µs` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

export const BRANCH_WORDS: Readonly<Record<string, string>> = {
  occupied_hit: 'pin held',
  vacant: 'new key',
  occupied_miss: 'moved: worker out',
  cap_respill: 'moved: worker busy',
  no_routing_id: 'no key',
  no_healthy_workers: 'nobody can serve',
  target_worker_hit: 'worker named',
  target_worker_miss: 'named worker is out',
  routing_key_hit: 'hash of key',
  random_fallback: 'no key, random',
  policy: 'no key: by policy',
  refused: 'refused',
  passed: 'no pick: Envoy chose',
};

export function branchWords(branch: string | null): string {
  return branch === null ? '–' : (BRANCH_WORDS[branch] ?? branch);
}

/** Colour of a status, and the word for it. */
export const STATUS_KINDS: Readonly<Record<string, string>> = {
  ready: 'ok',
  draining: 'drain',
  pending: 'wait',
  not_ready: 'bad',
  failed: 'bad',
  half_open: 'wait',
  open: 'bad',
};

export function spaced(word: string): string {
  return word.replaceAll('_', ' ');
}
