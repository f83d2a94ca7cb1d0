import type { AskedRequest } from '../explain/asked-request.ts';
import type { Explainer } from '../explain/explainer.ts';
import { whyOf } from './decision-why.ts';
import { errorResponse } from './error-response.ts';
import { readJsonBody } from './json-body.ts';
import type { Route } from './route.ts';

const MEMBERS: readonly string[] = ['method', 'path', 'headers', 'body', 'subset'];
/** RFC 9110 5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What ends a header line or a string of C, which no HTTP message has in a value. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NOT_IN_VALUES = /[\u0000\r\n]/;

/** `POST /explain` (interface 9): where a request would go, and why. Changes nothing, so that every reader may ask. */
export function explainRoute(explainer: Pick<Explainer, 'explain'>): Route {
  return {
    method: 'POST',
    path: '/explain',
    access: 'user',
    handle: async (c) => {
      const body = await readJsonBody(c.req.raw);
      if (!body.ok) return body.response;
      const asked = readAsked(body.value);
      if (typeof asked === 'string') return errorResponse('bad_request', asked);
      const { explanation, outcome, why } = explainer.explain(asked);
      return Response.json({ ...explanation, why: whyOf({ outcome, why }) });
    },
  };
}

/** Or what is wrong with it. */
function readAsked(value: unknown): AskedRequest | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'expected an object {"method", "path", "headers", "body"}';
  }
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is no member: expected ${MEMBERS.join(', ')}`;
  const { method = 'POST', path, headers = {}, body = '', subset = null } = value as Record<string, unknown>;
  if (typeof method !== 'string' || !TOKEN.test(method)) return 'method: expected the name of one, as "POST"';
  if (typeof path !== 'string' || !path.startsWith('/')) return 'path: expected a text that begins with "/"';
  const list = readHeaders(headers);
  if (typeof list === 'string') return list;
  const names = readSubset(subset);
  if (names === undefined) return 'subset: expected a list of texts, each "IP:PORT" or "IP"';
  return { method, path, headers: list, body: bytesOf(body), subset: names };
}

/** A text as it is, anything else as the JSON that it is. */
function bytesOf(body: unknown): Buffer {
  if (body === null) return Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function readHeaders(headers: unknown): AskedRequest['headers'] | string {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    return 'headers: expected an object of texts, or of lists of them';
  }
  const found: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) return `headers: ${JSON.stringify(name)} is no name of a header`;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each !== 'string' || NOT_IN_VALUES.test(each)) {
        return `headers: ${name}: expected a text without line breaks, or a list of them`;
      }
      found.push([name, each]);
    }
  }
  return found;
}

function readSubset(subset: unknown): readonly string[] | null | undefined {
  if (subset === null) return null;
  if (!Array.isArray(subset)) return undefined;
  const names = subset.filter((each) => typeof each === 'string');
  return names.length === subset.length ? names : undefined;
}
