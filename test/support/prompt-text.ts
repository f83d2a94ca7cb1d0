import { readBody } from '../../src/request/body-fields.ts';
import { endpointOf } from '../../src/request/endpoint.ts';
import { promptText } from '../../src/request/prompt-text.ts';

/** Text of a body, or of its first `length` bytes. */
export function textOf(path: string, body: unknown, length = -1): string {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const endpoint = endpointOf(path);
  const fields = readBody(length < 0 ? bytes : bytes.subarray(0, length), length < 0, endpoint);
  if (fields.kind === 'error') throw new Error(fields.message);
  return fields.members === null ? '' : promptText(endpoint.kind, fields.members);
}
