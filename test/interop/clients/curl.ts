import { GRPC_HEADERS, HEALTH_PATH, type HttpAnswer } from '../health-call.ts';
import { socketPath, type Target, urlOf } from '../way.ts';
import { runProgram, withHealthRequest } from './run-program.ts';

const HEAD_END = '\r\n\r\n';

/** Posts a health check by curl with prior knowledge of HTTP/2, over TLS by ALPN. */
export async function askByCurl(target: Target): Promise<HttpAnswer> {
  const path = socketPath(target);
  const how = [
    ...(target.way.tls ? ['--http2', '--cacert', target.caPath] : ['--http2-prior-knowledge']),
    ...(path === null ? [] : ['--unix-socket', path]),
    ...GRPC_HEADERS.flatMap((header) => ['-H', header]),
  ];
  // The head, then the body, then the trailers, as they come.
  const out = await withHealthRequest((file) =>
    runProgram('curl', ['-sS', '-i', ...how, '--data-binary', `@${file}`, urlOf(target) + HEALTH_PATH]),
  );
  return readAnswer(out);
}

function readAnswer(out: string): HttpAnswer {
  const bodyAt = out.indexOf(HEAD_END) + HEAD_END.length;
  const head = out.slice(0, bodyAt);
  const trailersAt = out.search(/grpc-status:/);
  const trailers = out.slice(trailersAt);
  return {
    status: /^HTTP\/2 (\d+)/.exec(head)?.[1],
    contentType: /^content-type: (.*)\r$/m.exec(head)?.[1],
    body: Buffer.from(out.slice(bodyAt, trailersAt), 'latin1').toString('hex'),
    grpcStatus: /^grpc-status: (.*)\r$/m.exec(trailers)?.[1],
  };
}
