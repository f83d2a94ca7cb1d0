const MASK = '***';
const SECRET_NAMES: ReadonlySet<string> = new Set(['key', 'apiKey', 'api_key', 'password', 'secret', 'token']);

/** A copy of plain data without its secrets: members named as one, and user information in URLs. */
export function maskSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskUrl(value);
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return maskSecrets(Object.fromEntries(value));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAMES.has(name) && typeof member === 'string' ? MASK : maskSecrets(member),
    ]),
  );
}

function maskUrl(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${MASK}@`);
}
