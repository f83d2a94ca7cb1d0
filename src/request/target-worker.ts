import { readAscii } from './header-readers.ts';
import type { RequestHead } from './request-head.ts';

export const TARGET_WORKER_HEADER = 'x-smg-target-worker';

const PLUS = 0x2b;

/** Value of the target worker header; null when it is absent, empty or not ASCII (sticky-sessions 1.4). */
export function readTargetWorker(head: RequestHead): string | null {
  const value = head.first(TARGET_WORKER_HEADER);
  return value === undefined ? null : readAscii(value);
}

/**
 * Worker index: one optional `+`, then decimal digits, leading zeros allowed (sticky-sessions 1.4). Numbers above 2^53 - 1
 * are `invalid` too: like every index out of range they are a miss, and no fleet is that large.
 */
export function parseWorkerIndex(text: string): number | 'invalid' {
  const first = text.charCodeAt(0) === PLUS ? 1 : 0;
  if (first === text.length) return 'invalid';
  let index = 0;
  for (let i = first; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return 'invalid';
    index = index * 10 + digit;
    if (index > Number.MAX_SAFE_INTEGER) return 'invalid';
  }
  return index;
}
