import type { ProcessingRequest } from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Fault } from './fault.ts';

export const DESTINATION_LIST_CAP = 3;

/** What the subset hint allows. */
export interface Hint {
  readonly allows: (endpoint: string) => boolean;
}

export const ANYBODY: Hint = { allows: () => true };

/** The hint of a message; null when it carries none. */
export function hintIn(message: ProcessingRequest, fault: Fault | null): Hint | null {
  const namespace = message.metadataContext?.filterMetadata?.['envoy.lb.subset_hint'];
  const key = 'x-gateway-destination-endpoint-subset';
  if (namespace === undefined || !(key in namespace)) return null;
  const value: unknown = namespace[key];
  if (typeof value === 'string' && fault === 'subset as string taken for absent') return null;
  const usable = typeof value === 'string' || Array.isArray(value);
  if (!usable && fault === 'subset of a wrong type taken for absent') return null;
  const parts: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  const wanted = parts.flatMap((part) => (typeof part === 'string' ? [part.trim()] : [])).filter((part) => part !== '');
  if (fault === 'subset compared by address only') {
    return { allows: (endpoint) => wanted.some((part) => addressOf(part) === addressOf(endpoint)) };
  }
  return { allows: (endpoint) => wanted.includes(endpoint) || wanted.includes(addressOf(endpoint)) };
}

/** Without port and brackets, whether they are there or not. */
function addressOf(text: string): string {
  const bracketed = /^\[(.*)\](:\d+)?$/.exec(text);
  if (bracketed !== null) return bracketed[1] ?? '';
  return /^[^:]*:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}
