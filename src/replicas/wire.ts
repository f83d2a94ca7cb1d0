/** Readers of values that another replica sent. */

/** Longest message that is read. */
const MAX_MESSAGE_LENGTH = 1 << 20;

/** Undefined when the text is no JSON array, or too long. */
export function parseArray(text: string): readonly unknown[] | undefined {
  if (text.length > MAX_MESSAGE_LENGTH) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Name of a replica: 8 hexadecimal digits. */
export function isReplicaName(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** A whole number that is not negative and small enough to be summed up. */
export function isCount(value: unknown): value is number {
  return isInteger(value) && value >= 0 && value <= 2 ** 40;
}

export function isShortText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length <= max;
}
