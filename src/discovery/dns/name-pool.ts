import { isIpLiteral } from '../../workers/address.ts';
import type { SourcedWorker } from '../../workers/sourced-worker.ts';
import { declared } from '../../workers/sourced-worker.ts';
import { parseWorkerSpec, type SpecIssue, type WorkerSpec } from '../../workers/worker-spec.ts';
import { parseWorkerUrl } from '../../workers/worker-url.ts';

/** A DNS name every address of which is a worker: `dns+http://name:port` (interface 6). */
export interface NamePool {
  /** Its URL without a slash at the end. */
  readonly id: string;
  /** What its workers have in common; its own URL has the name for a host. */
  readonly template: WorkerSpec;
}

/** What somebody declared where workers are declared. */
export type Declaration =
  | { readonly kind: 'worker'; readonly spec: WorkerSpec }
  | { readonly kind: 'pool'; readonly pool: NamePool }
  | { readonly kind: 'wrong'; readonly issues: readonly SpecIssue[] };

const PREFIX = 'dns+';

/** True for a URL that stands for all addresses of a name. */
export function isPoolUrl(url: string): boolean {
  return url.startsWith(PREFIX);
}

/** Reads a worker (interface 6), or a name that stands for several. */
export function readDeclaration(input: unknown): Declaration {
  if (!isObject(input) || typeof input['url'] !== 'string' || !isPoolUrl(input['url'])) {
    const parsed = parseWorkerSpec(input);
    return parsed.ok ? { kind: 'worker', spec: parsed.spec } : { kind: 'wrong', issues: parsed.issues };
  }
  const { url, id } = { url: input['url'], id: input['id'] };
  const bare = url.slice(PREFIX.length);
  const given: Record<string, unknown> = { ...input, url: bare };
  if (typeof id === 'string' && isPoolUrl(id)) given['id'] = id.slice(PREFIX.length);
  const parsed = parseWorkerSpec(given);
  if (!parsed.ok) return { kind: 'wrong', issues: parsed.issues };
  const { host, rank, scheme, base } = parsed.spec.url;
  if (scheme !== 'http')
    return wrong(url, 'has a scheme other than dns+http: a certificate is for a name, not for an address');
  if (rank !== null) return wrong(url, 'names a rank, which belongs to one engine');
  if (isIpLiteral(host)) return wrong(url, `has an address, not a name; give ${bare}`);
  return { kind: 'pool', pool: { id: `${PREFIX}${base}`, template: parsed.spec } };
}

/** The worker at each address, in an order that does not depend on that of the answer. */
export function workersAt({ template }: NamePool, addresses: readonly string[]): readonly SourcedWorker[] {
  const { url, name } = template;
  return [...new Set(addresses)].toSorted().flatMap((ip) => {
    const parsed = parseWorkerUrl(`${url.scheme}://${ip.includes(':') ? `[${ip}]` : ip}:${url.port}`);
    if (!parsed.ok) return [];
    return [declared({ ...template, url: parsed.url, name: name === null ? null : `${name}/${ip}` })];
  });
}

function isObject(input: unknown): input is Record<string, unknown> & { url?: unknown } {
  return typeof input === 'object' && input !== null;
}

function wrong(url: string, why: string): Declaration {
  return { kind: 'wrong', issues: [{ path: ['url'], message: `url: worker URL ${JSON.stringify(url)} ${why}` }] };
}
