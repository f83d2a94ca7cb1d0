/** Whether the head of a request promises a body that can be read as JSON. Hot path. */
import { readVisible } from './header-readers.ts';
import type { RequestHead } from './request-head.ts';

/**
 * - `none`: no body follows.
 * - `tunnel`: asking for the body could wait forever: an upgrade, CONNECT, or gRPC, whose stream may never end
 *   (decisions 20).
 * - `opaque`: a body whose bytes are not plain JSON; placed by headers, never an error (decisions 35).
 * - `json`: everything else.
 */
export type BodyKind = 'none' | 'tunnel' | 'opaque' | 'json';

export function bodyKindOf(head: RequestHead): BodyKind {
  if (head.endOfStream) return 'none';
  if (head.method === 'CONNECT' || head.first('upgrade') !== undefined) return 'tunnel';
  const type = mediaTypeOf(head);
  if (type === 'application/grpc' || type.startsWith('application/grpc+')) return 'tunnel';
  return isJsonType(type) && isIdentity(head) ? 'json' : 'opaque';
}

/** Type and subtype in lower case without parameters; empty when absent or empty, `?` when not readable. */
function mediaTypeOf(head: RequestHead): string {
  const bytes = head.first('content-type');
  if (bytes === undefined) return '';
  const value = readVisible(bytes);
  if (value === null) return '?';
  if (value === 'application/json') return value;
  const parameters = value.indexOf(';');
  return (parameters < 0 ? value : value.slice(0, parameters)).trim().toLowerCase();
}

/**
 * A body without a content type is taken for JSON: the endpoints in question take nothing else, and many scripts leave the
 * header out. SMG's `application/json` and `application/*+json` count, others do not.
 */
function isJsonType(type: string): boolean {
  if (type === '' || type === 'application/json') return true;
  return type.startsWith('application/') && type.endsWith('+json');
}

/** False when the body's bytes are encoded (gzip and the like). */
export function isIdentity(head: RequestHead): boolean {
  const bytes = head.first('content-encoding');
  if (bytes === undefined) return true;
  const value = readVisible(bytes);
  if (value === null) return false;
  const coding = value.trim().toLowerCase();
  return coding === '' || coding === 'identity';
}
