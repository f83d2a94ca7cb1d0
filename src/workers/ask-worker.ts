import { splitAddress } from './address.ts';
import { type HttpGetOptions, type HttpResult, httpGet } from './http-get.ts';
import type { WorkerSpec } from './worker-spec.ts';

/** What is asked; where and by whom follows from the worker. */
export type AskOptions = Omit<HttpGetOptions, 'ip' | 'port' | 'headers'>;

/**
 * One request without a body to a worker in the service's own name: at its present address, with the authority and the API key that were
 * declared. Its rank is no part of the question.
 *
 * @param address `ip:port`; empty while its name does not resolve, which is a failure
 */
export function askWorker(spec: WorkerSpec, address: string, options: AskOptions): Promise<HttpResult> {
  const { url, apiKey } = spec;
  const target = splitAddress(address);
  if (target === undefined) return Promise.resolve({ kind: 'failed', reason: `${url.host} does not resolve` });
  const headers = { host: url.authority, accept: '*/*', 'user-agent': 'smg-envoy' };
  return httpGet({
    ...options,
    ip: target.ip,
    port: target.port,
    headers: apiKey === null ? headers : { ...headers, authorization: `Bearer ${apiKey}` },
  });
}
