/** From settings to how workers are spoken to (decisions 45). */
import { readFileSync } from 'node:fs';
import { flagWorkers } from '../config/declared-workers.ts';
import type { Loaded, Settings } from '../config/load-settings.ts';
import { AppError, messageOf } from '../util/app-error.ts';
import type { Upstream } from '../workers/upstream.ts';
import { parseWorkerSpec } from '../workers/worker-spec.ts';
import { parseWorkerUrl, type WorkerScheme } from '../workers/worker-url.ts';

/**
 * Schemes of workers that Envoy is configured for: `http`, those of `--worker-schemes`, and those of the workers that are
 * declared at start.
 */
export function schemesOf({ settings, workers }: Loaded): ReadonlySet<WorkerScheme> {
  const schemes = new Set<WorkerScheme>(['http', ...settings.workerSchemes]);
  for (const { url } of flagWorkers(settings)) {
    const result = parseWorkerUrl(url);
    if (result.ok) schemes.add(result.url.scheme);
  }
  for (const { value } of workers) {
    const result = parseWorkerSpec(value);
    if (result.ok) schemes.add(result.spec.url.scheme);
  }
  return schemes;
}

/**
 * How the service itself asks workers, with the files that the settings name.
 *
 * @throws AppError `invalid_configuration` for a file that cannot be read
 */
export function upstreamOf(settings: Settings): Upstream {
  const { clientCertPath, clientKeyPath } = settings;
  return {
    http2: settings.upstreamHttp2,
    tls: {
      ca: settings.caCertPaths.map((path) => readPem('--ca-cert-paths', path)),
      cert: clientCertPath === null ? null : readPem('--client-cert-path', clientCertPath),
      key: clientKeyPath === null ? null : readPem('--client-key-path', clientKeyPath),
      insecure: settings.workerTlsInsecure,
    },
  };
}

/** @throws AppError `invalid_configuration` for a file that cannot be read or holds no PEM */
export function readPem(flag: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('invalid_configuration', `${flag} ${path}: ${messageOf(error)}`, { cause: error });
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new AppError('invalid_configuration', `${flag} ${path}: expected a file in PEM`);
}
