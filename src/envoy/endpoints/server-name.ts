import { isTls, parseWorkerUrl } from '../../workers/worker-url.ts';

/**
 * What an endpoint is called so that Envoy asks for that name and wants it in the certificate: the worker's DNS name; empty for
 * an address, of which Envoy checks the authority alone. Null without TLS.
 *
 * @param url of the worker
 */
export function serverName(url: string): string | null {
  if (!url.startsWith('https:') && !url.startsWith('grpcs:')) return null;
  const result = parseWorkerUrl(url);
  if (!result.ok || !isTls(result.url.scheme)) return null;
  return result.url.address === '' ? result.url.host : '';
}
