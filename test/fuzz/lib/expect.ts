/** Throws a finding. What differs from input to input stands behind the colon. */
export function fail(what: string, ...values: readonly unknown[]): never {
  throw new Error(values.length === 0 ? what : `${what}: ${values.map(shown).join(' against ')}`);
}

export function same(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) fail(what, got, wanted);
}

/** Arrays and plain objects by their content. */
export function alike(what: string, got: unknown, wanted: unknown): void {
  if (!isAlike(got, wanted)) fail(what, got, wanted);
}

function isAlike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof Map && b instanceof Map) return isAlike([...a], [...b]);
  const keys = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && isAlike((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

function shown(value: unknown): string {
  if (value instanceof Uint8Array) return `<${Buffer.from(value.subarray(0, 200)).toString('hex')}>`;
  const text = JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each));
  return (text ?? String(value)).slice(0, 400);
}
