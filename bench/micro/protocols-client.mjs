/**
 * Plays Envoy for protocols.mjs: opens calls with one message each, a number of them at once, and ends each as Envoy does: a
 * unary call with its message, a stream when it has its answer.
 */
import { connect } from 'node:http2';

const STREAMS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const sessions = new Map();

process.on('message', async (order) => {
  let failed = 0;
  let next = 0;
  const take = async () => {
    while (next < order.messages.length) if (!(await call(order, order.messages[next++]))) failed += 1;
  };
  await Promise.all(Array.from({ length: order.concurrency }, take));
  process.send({ failed });
});

function call({ url, path }, message) {
  const stream = sessionOf(url).request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-smg-envoy': 'periodic=10',
  });
  const frame = Buffer.allocUnsafe(message.length + 5);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  if (path === STREAMS) stream.write(frame);
  else stream.end(frame);
  return new Promise((resolve) => {
    let answered = false;
    let status = '';
    stream.on('data', () => {
      answered = true;
      if (path === STREAMS && !stream.writableEnded) stream.end();
    });
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status'];
    });
    stream.on('error', () => resolve(false));
    stream.on('close', () => resolve(answered && status === '0'));
  });
}

function sessionOf(url) {
  const known = sessions.get(url);
  if (known !== undefined) return known;
  const session = connect(url);
  sessions.set(url, session);
  return session;
}

process.on('disconnect', () => {
  for (const session of sessions.values()) session.destroy();
});
