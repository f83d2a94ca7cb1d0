import { createHash } from 'node:crypto';

/** Which part of a request a pin is for: the whole of it, or its leg under prefill/decode disaggregation. */
export type Leg = 'single' | 'prefill' | 'decode';

const LETTERS = { single: 's', prefill: 'p', decode: 'd' } as const satisfies Record<Leg, string>;

/**
 * Name under which the override stores a key: `<n>:<model>:<leg>:<key>`, where n is the byte length of the model id, so that
 * no model id can be mistaken for another field (sticky-sessions 3.3). Hot path.
 *
 * @param model canonical id; `unknown` for requests that name none
 */
export function overridePinKey(model: string, leg: Leg, key: string): string {
  return `${Buffer.byteLength(model)}:${model}:${LETTERS[leg]}:${key}`;
}

/**
 * Name under which `manual` stores a key: for all models alike (sticky-sessions 3.8), but apart for a model that has a
 * `manual` of its own. No key of the override begins with a letter, so the two never meet in one store.
 *
 * @param model the model with a `manual` of its own; null for the gateway's
 */
export function manualPinKey(leg: Leg, key: string, model: string | null = null): string {
  const stored = key.length <= MAX_STORED_KEY ? key : digestOf(key);
  if (model === null) return `manual:${LETTERS[leg]}:${stored}`;
  return `manual@${Buffer.byteLength(model)}:${model}:${LETTERS[leg]}:${stored}`;
}

/** True for a name that `manual` stores a key under, false for one of the override. */
export function isManualPinKey(pinKey: string): boolean {
  return pinKey.startsWith('manual');
}

/** `manual` takes keys of any length (sticky-sessions 2.5), which must not fill the memory that `--max-pins` bounds. */
const MAX_STORED_KEY = 256;

/** Stands for a long key; begins with a character that no key can hold. */
function digestOf(key: string): string {
  return `\u0000${createHash('sha256').update(key).digest('base64')}`;
}
