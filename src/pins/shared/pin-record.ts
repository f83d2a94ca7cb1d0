import type { PinChange, StoredPin } from './pin-backend.ts';

/**
 * How a pin is written in a shared store, and a change in a message:
 *
 *     value   = "1" version *( LF worker-id )      no id: the trace of a deleted key
 *     message = "1" name LF version *( LF worker-id )
 *
 * The leading character is the format, for releases to come. The version is decimal, 1 to 2^53 - 1, without leading zeros.
 * A worker id is not empty and, being a URL, holds no line feed. `lua/stored-pin.lua` reads and writes the same.
 */
const FORMAT = '1';

export function encodePin(pin: StoredPin): string {
  return `${FORMAT}${encodeRest(pin)}`;
}

export function encodeChange(change: PinChange): string {
  return `${FORMAT}${change.name}\n${encodeRest(change)}`;
}

/** As an argument of a script. */
export function encodeCandidates(candidates: readonly string[]): string {
  return candidates.join('\n');
}

/** Null for what this release did not write. */
export function decodePin(value: string): StoredPin | null {
  return value.startsWith(FORMAT) ? decodeRest(value.slice(1)) : null;
}

/** Null for what this release did not write. */
export function decodeChange(message: string): PinChange | null {
  const nameEnd = message.indexOf('\n');
  if (nameEnd < 2 || !message.startsWith(FORMAT)) return null;
  const pin = decodeRest(message.slice(nameEnd + 1));
  if (pin === null) return null;
  return { name: message.slice(1, nameEnd), candidates: pin.candidates, version: pin.version };
}

function encodeRest(pin: StoredPin): string {
  return [pin.version, ...pin.candidates].join('\n');
}

function decodeRest(text: string): StoredPin | null {
  const [digits = '', ...candidates] = text.split('\n');
  const version = decodeVersion(digits);
  if (version === 0 || candidates.includes('')) return null;
  return { candidates, version };
}

/** 0 for what is none. */
function decodeVersion(digits: string): number {
  if (digits.length > 16 || digits.startsWith('0')) return 0;
  let version = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return 0;
    version = version * 10 + digit;
  }
  return version <= Number.MAX_SAFE_INTEGER ? version : 0;
}
