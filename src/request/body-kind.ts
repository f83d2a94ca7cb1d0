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

/** A gRPC request as Envoy's routes tell one (their `grpc` matcher). */
export function isGrpcRequest(head: RequestHead): boolean {
  const type = head.first('content-type');
  if (type === undefined || type.length < GRPC_BYTES.length) return false;
  for (let i = 0; i < GRPC_BYTES.length; i++) if (type[i] !== GRPC_BYTES[i]) return false;
  return type.length === GRPC_BYTES.length || type[GRPC_BYTES.length] === PLUS;
}

const GRPC_BYTES = Buffer.from('application/grpc');
const PLUS = 0x2b;

const USUAL_TYPE = 'application/json';
const USUAL_BYTES = Buffer.from(USUAL_TYPE);

/** Type and subtype in lower case without parameters; empty when absent or empty, `?` when not readable. */
function mediaTypeOf(head: RequestHead): string {
  const bytes = head.first('content-type');
  if (bytes === undefined) return '';
  if (isUsual(bytes)) return USUAL_TYPE;
  const value = readVisible(bytes);
  if (value === null) return '?';
  const parameters = value.indexOf(';');
  return (parameters < 0 ? value : value.slice(0, parameters)).trim().toLowerCase();
}

/** True for the type that nearly all requests have, which needs no string of its own. */
function isUsual(bytes: Uint8Array): boolean {
  if (bytes.length !== USUAL_BYTES.length) return false;
  for (let i = 0; i < USUAL_BYTES.length; i++) if (bytes[i] !== USUAL_BYTES[i]) return false;
  return true;
}

/**
 * A body without a content type is taken for JSON: the endpoints in question take nothing else, and many scripts leave the
 * header out. SMG's `application/json` and `application/*+json` count, others do not.
 */
function isJsonType(type: string): boolean {
  if (type === '' || type === USUAL_TYPE) return true;
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
