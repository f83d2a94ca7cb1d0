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
 * Name under which `manual` stores a key: for all models alike (sticky-sessions 3.8). No key of the override begins with a
 * letter, so the two never meet in one store.
 */
export function manualPinKey(leg: Leg, key: string): string {
  return `manual:${LETTERS[leg]}:${key.length <= MAX_STORED_KEY ? key : digestOf(key)}`;
}

/** `manual` takes keys of any length (sticky-sessions 2.5), which must not fill the memory that `--max-pins` bounds. */
const MAX_STORED_KEY = 256;

/** Stands for a long key; begins with a character that no key can hold. */
function digestOf(key: string): string {
  return `\u0000${createHash('sha256').update(key).digest('base64')}`;
}
