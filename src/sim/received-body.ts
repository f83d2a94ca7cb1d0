import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Bodies above this are counted and hashed, but not kept for reading. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** A request body as a worker received it. */
export interface ReceivedBody {
  readonly bytes: number;
  /** Hex SHA-256 of the bytes on the wire; empty when it was not asked for. */
  readonly sha256: string;
  /** Members of a JSON object body; empty for anything else. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Reads the whole body; rejects when the client breaks off. */
export async function receiveBody(request: IncomingMessage, digest: boolean): Promise<ReceivedBody> {
  const hash = digest ? createHash('sha256') : undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash?.update(chunk);
    bytes += chunk.length;
    if (bytes <= KEPT_BYTES) chunks.push(chunk);
  }
  return {
    bytes,
    sha256: hash === undefined ? '' : hash.digest('hex'),
    json: bytes === 0 || bytes > KEPT_BYTES ? {} : parseObject(Buffer.concat(chunks)),
  };
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
