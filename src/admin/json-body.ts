import { errorResponse } from './error-response.ts';

/** Largest request body of the admin API (interface 9). */
export const MAX_BODY_BYTES = 1024 * 1024;

export type JsonBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly response: Response };

/** Refuses a body that is declared too large, before anything of it is read. */
export function refuseLargeBody(declaredLength: string | undefined): Response | null {
  return Number(declaredLength ?? 0) > MAX_BODY_BYTES ? tooLarge() : null;
}

/** Reads a request body as JSON, up to the cap. */
export async function readJsonBody(request: Request): Promise<JsonBody> {
  // Also what keeps web pages out: a browser asks before it sends this type to another origin, and gets no consent.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return { ok: false, response: errorResponse('bad_request', 'content-type must be application/json') };
  }
  const text = await readText(request);
  if (text === null) return { ok: false, response: tooLarge() };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, response: errorResponse('bad_request', 'The body is not valid JSON') };
  }
}

async function readText(request: Request): Promise<string | null> {
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Response {
  // The rest of the body is not read, so the connection is of no further use.
  const headers = { connection: 'close' };
  return errorResponse('request_body_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes`, headers);
}
