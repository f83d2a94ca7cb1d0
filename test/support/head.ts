import type { RequestHead } from '../../src/request/request-head.ts';

export interface HeadParts {
  readonly method?: string;
  readonly path?: string;
  /** In order; a string stands for its UTF-8 bytes. Names in any case, as a client may type them. */
  readonly headers?: readonly (readonly [name: string, value: string | Uint8Array])[];
  readonly endOfStream?: boolean;
}

/** A request head made of plain values. Without parts: a chat completion whose body follows. */
export function headOf(parts: HeadParts = {}): RequestHead {
  const values = new Map<string, Uint8Array>();
  for (const [name, value] of parts.headers ?? []) {
    const key = name.toLowerCase();
    if (!values.has(key)) values.set(key, typeof value === 'string' ? Buffer.from(value) : value);
  }
  return {
    method: parts.method ?? 'POST',
    path: parts.path ?? '/v1/chat/completions',
    endOfStream: parts.endOfStream ?? false,
    first: (name) => values.get(name),
  };
}
