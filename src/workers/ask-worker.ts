import { splitAddress } from './address.ts';
import { GRPC_HEALTH_PATH, GRPC_HEALTH_QUESTION, readGrpcHealth } from './grpc-health.ts';
import { type HttpRequestOptions, type HttpResult, httpRequest } from './http-request.ts';
import { http2Request } from './http2-request.ts';
import { connectTls, DEFAULT_UPSTREAM, type Upstream } from './upstream.ts';
import type { WorkerSpec } from './worker-spec.ts';
import { isGrpc } from './worker-url.ts';

/** What is asked; where, how and by whom follows from the worker. */
export interface AskOptions extends Omit<HttpRequestOptions, 'ip' | 'port' | 'headers' | 'tls'> {
  /** The question is for its health: a gRPC worker is asked as gRPC servers are, whatever the path. */
  readonly health?: boolean;
}

/**
 * One request without a body to a worker in the service's own name: at its present address, with the authority and the API key that were
 * declared. Its rank is no part of the question.
 *
 * @param address `ip:port`; empty while its name does not resolve, which is a failure
 */
export type AskWorker = (spec: WorkerSpec, address: string, options: AskOptions) => Promise<HttpResult>;

/** What a gRPC worker has to say about models, ranks or its load. */
const NO_SUCH_ROUTE: HttpResult = { kind: 'answer', status: 404, body: Buffer.alloc(0), complete: true };

/** Asks workers the way that Envoy speaks to them. */
export function workerAsker(upstream: Upstream): AskWorker {
  return async (spec, address, options) => {
    const { url, apiKey } = spec;
    const target = splitAddress(address);
    if (target === undefined) return { kind: 'failed', reason: `${url.host} does not resolve` };
    const own = { host: url.authority, 'user-agent': 'smg-envoy' };
    const headers = apiKey === null ? own : { ...own, authorization: `Bearer ${apiKey}` };
    const to = { ...options, ip: target.ip, port: target.port, tls: connectTls(url, upstream.tls) };
    if (isGrpc(url.scheme)) {
      if (options.health !== true) return NO_SUCH_ROUTE;
      const grpc = { ...headers, 'content-type': 'application/grpc', te: 'trailers' };
      const question = { method: 'POST', path: GRPC_HEALTH_PATH, headers: grpc, body: GRPC_HEALTH_QUESTION } as const;
      return readGrpcHealth(await http2Request({ ...to, ...question }));
    }
    const any = { ...headers, accept: '*/*' };
    return upstream.http2 ? http2Request({ ...to, headers: any }) : httpRequest({ ...to, headers: any });
  };
}

export const askWorker = workerAsker(DEFAULT_UPSTREAM);
