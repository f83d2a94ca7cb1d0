import { expect } from 'vitest';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { type Answer, ask, http2Client, type Outgoing } from '../support/services.ts';

const PATH = '/v1/chat/completions';
const MEBIBYTE = 1024 * 1024;
/** Around the size of an answered piece in full duplex, and of Envoy's own buffers. */
export const SIZES = [0, 1, 62_000, 62_001, 64 * 1024, MEBIBYTE];
const TRAILERS = { 'x-sum': '7' };

interface Body {
  readonly body: Buffer;
  readonly sha256: string;
}

const SMALL = SIZES.map((size) => digested(size < 100 ? Buffer.alloc(size, 'x') : chatBody('whole_t1', size)));
/** Made when first needed, and for all. */
let large: Body | undefined;

/**
 * What the client sent is what the worker got (endpoint-picker-protocol P5), by HTTP/1.1 and HTTP/2, with trailers and
 * without; of 50 MiB once by each.
 *
 * @param url of an Envoy before workers that tell the digest of what they got
 * @param ofLarge status of the answer to 50 MiB
 */
export async function expectWholeBodies(url: string, ofLarge: 200 | 413): Promise<void> {
  const client = http2Client(url);
  const send = (version: string, out: Outgoing): Promise<Answer> =>
    version === 'HTTP/2' ? client.ask(out) : ask(url, out);
  try {
    for (const version of ['HTTP/1.1', 'HTTP/2']) {
      for (const { body, sha256 } of SMALL) {
        for (const trailers of [undefined, TRAILERS]) {
          const answer = await send(version, outgoing(body, trailers));
          const size = body.length;
          const seen = { version, size, trailers, status: answer.status, sha256: answer.headers['x-sim-body-sha256'] };
          expect(seen).toEqual({ version, size, trailers, status: 200, sha256 });
        }
      }
      large ??= digested(chatBody('large_t1', 50 * MEBIBYTE));
      const answer = await send(version, outgoing(large.body, version === 'HTTP/2' ? TRAILERS : undefined));
      const seen = { version, status: answer.status, sha256: answer.headers['x-sim-body-sha256'] };
      if (ofLarge === 200) expect(seen).toEqual({ version, status: 200, sha256: large.sha256 });
      else {
        // Envoy resets the stream right behind its 413, and a client of HTTP/2 that still sends may see nothing else.
        const lost = version === 'HTTP/2' && Number.isNaN(answer.status);
        expect({ ...seen, status: lost ? 413 : answer.status }).toEqual({ version, status: 413, sha256: undefined });
      }
    }
  } finally {
    client.close();
  }
}

function digested(body: Buffer): Body {
  return { body, sha256: sha256(body) };
}

function outgoing(body: Buffer, trailers: Record<string, string> | undefined): Outgoing {
  const type = body.length < 100 ? 'application/octet-stream' : 'application/json';
  const headers = { 'content-type': type };
  const common = { path: PATH, method: 'POST', body: pieces(body, MEBIBYTE) };
  if (trailers === undefined) return { ...common, headers: { ...headers, 'content-length': String(body.length) } };
  return { ...common, headers: { ...headers, te: 'trailers', trailer: 'x-sum' }, trailers };
}
