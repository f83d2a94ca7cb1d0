import type { HeaderValueOption } from '../../../src/gen/envoy/config/core/v3/base.ts';
import type { TrailersResponse } from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Fault } from './fault.ts';

/** Faults that set a line which is not the picker's. */
export const REWRITES: readonly (readonly [Fault, string, string])[] = [
  ['path rewritten', ':path', '/other'],
  ['method rewritten', ':method', 'PUT'],
  ['authority rewritten', ':authority', 'other.test'],
  ['host set', 'host', 'other.test'],
  ["client's own header changed", 'user-agent', 'other'],
];

export function set(key: string, value: string): HeaderValueOption {
  return { header: { key, rawValue: Buffer.from(value) }, append: false };
}

/** Leaves the trailers alone, unless the fault is of that side. */
export function trailersAnswer(side: 'request' | 'response', fault: Fault | null): TrailersResponse {
  if (side === 'request' && fault === 'request trailer added') {
    return { headerMutation: { setHeaders: [set('x-added', '1')], removeHeaders: [] } };
  }
  if (side === 'response' && fault === 'response trailer changed') {
    return { headerMutation: { setHeaders: [set('x-conformance-trailer', 'other')], removeHeaders: [] } };
  }
  if (side === 'response' && fault === 'response trailer removed') {
    return { headerMutation: { setHeaders: [], removeHeaders: ['x-conformance-trailer'] } };
  }
  return {};
}
