import { createHash } from 'node:crypto';
import { readScope, type Tenant } from '../request/tenant.ts';

/** Which part of a request a pin is for: the whole of it, or its leg under prefill/decode disaggregation. */
export type Leg = 'single' | 'prefill' | 'decode';

const LETTERS = { single: 's', prefill: 'p', decode: 'd' } as const satisfies Record<Leg, string>;

/**
 * Name under which the override stores a key: `<n>:<model>:<leg>:<key>`, where n is the byte length of the model id, so that
 * no model id can be mistaken for another field (sticky-sessions 3.3). Hot path.
 *
 * @param scope what `tenantScope` says; stands before the rest
 * @param model canonical id; `unknown` for requests that name none
 */
export function overridePinKey(scope: string, model: string, leg: Leg, key: string): string {
  return `${scope}${Buffer.byteLength(model)}:${model}:${LETTERS[leg]}:${key}`;
}

/**
 * Name under which `manual` stores a key: for all models alike (sticky-sessions 3.8), but apart for a model that has a
 * `manual` of its own. No key of the override begins with a letter, so the two never meet in one store.
 *
 * @param scope what `tenantScope` says; stands before the rest
 * @param model the model with a `manual` of its own; null for the gateway's
 */
export function manualPinKey(scope: string, leg: Leg, key: string, model: string | null = null): string {
  const stored = key.length <= MAX_STORED_KEY ? key : digestOf(key);
  if (model === null) return `${scope}${MANUAL}:${LETTERS[leg]}:${stored}`;
  return `${scope}${MANUAL}@${Buffer.byteLength(model)}:${model}:${LETTERS[leg]}:${stored}`;
}

/** True for a name that `manual` stores a key under, false for one of the override. */
export function isManualPinKey(pinKey: string): boolean {
  return pinKey.startsWith(MANUAL, readScope(pinKey).end);
}

const MANUAL = 'manual';

/** A pin's name taken apart. */
export interface PinKeyParts {
  readonly kind: 'override' | 'manual';
  /** Null for a name without a scope. */
  readonly tenant: Tenant | null;
  /** Null where `manual` keeps a key for all models alike. */
  readonly model: string | null;
  readonly leg: Leg;
  /** As it is stored: a long one under `manual` as its digest, which stands for itself there. */
  readonly key: string;
}

/** Reads a name back that one of the two functions above made. */
export function readPinKey(pinKey: string): PinKeyParts {
  const { tenant, end } = readScope(pinKey);
  const rest = pinKey.slice(end);
  const kind = rest.startsWith(MANUAL) ? 'manual' : 'override';
  const fields = kind === 'manual' ? rest.slice(MANUAL.length + 1) : rest;
  const hasModel = kind === 'override' || rest.charAt(MANUAL.length) === '@';
  const { model, after } = hasModel ? readModel(fields) : { model: null, after: fields };
  return { kind, tenant, model, leg: legOf(after.charAt(0)), key: after.slice(2) };
}

function readModel(fields: string): { readonly model: string; readonly after: string } {
  const colon = fields.indexOf(':');
  const rest = fields.slice(colon + 1);
  // Half a character counts as the three bytes of its replacement, and takes as many characters as that.
  const { length } = Buffer.from(rest).toString('utf8', 0, Number(fields.slice(0, colon)));
  return { model: rest.slice(0, length), after: rest.slice(length + 1) };
}

function legOf(letter: string): Leg {
  return letter === LETTERS.prefill ? 'prefill' : letter === LETTERS.decode ? 'decode' : 'single';
}

/** `manual` takes keys of any length (sticky-sessions 2.5), which must not fill the memory that `--max-pins` bounds. */
const MAX_STORED_KEY = 256;

/** Stands for a long key; begins with a character that no key can hold. */
function digestOf(key: string): string {
  return `\u0000${createHash('sha256').update(key).digest('base64')}`;
}
