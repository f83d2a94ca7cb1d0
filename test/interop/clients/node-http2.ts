import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { HEALTH_PATH, HEALTH_REQUEST, type HttpAnswer } from '../health-call.ts';
import { SERVER_NAME, socketPath, type Target, urlOf } from '../way.ts';

/** Posts a health check by Node's own HTTP/2 client. */
export async function askByNodeHttp2(target: Target): Promise<HttpAnswer> {
  const session = open(target);
  try {
    return await post(session);
  } finally {
    session.close();
  }
}

function open(target: Target): ClientHttp2Session {
  const path = socketPath(target);
  const secure = target.way.tls ? { ca: readFileSync(target.caPath) } : {};
  if (path === null) return connect(urlOf(target), secure);
  const createConnection = () =>
    target.way.tls
      ? connectTls({ path, ...secure, servername: SERVER_NAME, ALPNProtocols: ['h2'] })
      : connectSocket({ path });
  return connect(urlOf(target), { createConnection });
}

function post(session: ClientHttp2Session): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    session.once('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': HEALTH_PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let [head, trailers]: Record<string, unknown>[] = [];
    const pieces: Buffer[] = [];
    stream.once('response', (headers) => {
      head = headers;
    });
    stream.once('trailers', (headers) => {
      trailers = headers;
    });
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.once('error', reject);
    stream.once('end', () =>
      resolve({
        status: String(head?.[':status']),
        contentType: String(head?.['content-type']),
        body: Buffer.concat(pieces).toString('hex'),
        grpcStatus: String(trailers?.['grpc-status']),
      }),
    );
    stream.end(HEALTH_REQUEST);
  });
}
