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
  return `manual:${LETTERS[leg]}:${key}`;
}
