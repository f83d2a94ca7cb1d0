import { SubsetHint } from '../../picker/subset-hint.ts';
import { SUBSET_KEY, SUBSET_NAMESPACE } from '../names.ts';

/** Metadata of filters as Envoy forwards it: namespace to fields. */
export type FilterMetadata = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The subset hint of a message; null where it carries none (endpoint-picker-protocol 2). */
export function subsetIn(metadata: FilterMetadata | null): SubsetHint | null {
  const fields = metadata?.[SUBSET_NAMESPACE];
  return fields !== undefined && Object.hasOwn(fields, SUBSET_KEY) ? new SubsetHint(fields[SUBSET_KEY]) : null;
}
