import { bodyKindOf } from '../../request/body-kind.ts';
import { type EndpointKind, endpointOf } from '../../request/endpoint.ts';
import type { RequestHead } from '../../request/request-head.ts';

/**
 * Who has to do with a request under disaggregation (policies 4.5): a pair; a prefill worker alone, which only counts
 * tokens; a decode worker alone, for everything that generates nothing; or nobody, since the engines cannot do it.
 */
export type Roles = 'pair' | 'prefill' | 'decode' | 'none';

/** Hot path. */
export function rolesOf(head: RequestHead): Roles {
  const { kind, isJson } = endpointOf(head.path);
  if (!isJson) return 'decode';
  if (kind === 'count_tokens') return 'prefill';
  if (isUnsupported(kind)) return 'none';
  const body = bodyKindOf(head);
  return body === 'none' || body === 'tunnel' ? 'decode' : 'pair';
}

function isUnsupported(kind: EndpointKind): boolean {
  return kind === 'embeddings' || kind === 'classify';
}
