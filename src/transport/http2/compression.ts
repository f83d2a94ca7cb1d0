import { gunzipSync, inflateSync } from 'node:zlib';

/** Compressions of messages, beside none, that a client may use. */
export const KNOWN_COMPRESSIONS = 'identity,deflate,gzip';

type Inflate = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const INFLATE: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
]);

export type Inflated = { readonly kind: 'message'; readonly bytes: Buffer } | { readonly kind: 'too_large' | 'broken' };

export function isKnownCompression(name: string): boolean {
  return name === '' || name === 'identity' || INFLATE.has(name);
}

/**
 * One compressed message, unpacked at once: Envoy sends none, and other clients send small ones. Never more than `maxBytes`, so
 * that a message that unpacks to gigabytes is refused early.
 */
export function inflateMessage(compression: string, bytes: Buffer, maxBytes: number): Inflated {
  const inflate = INFLATE.get(compression);
  if (inflate === undefined) return { kind: 'broken' };
  try {
    return { kind: 'message', bytes: inflate(bytes, { maxOutputLength: Math.max(1, maxBytes) }) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { kind: code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'broken' };
  }
}
