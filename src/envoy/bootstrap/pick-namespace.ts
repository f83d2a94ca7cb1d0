import { AUTHZ_NAMESPACE, PICKER_NAMESPACE } from '../names.ts';
import type { BootstrapMode } from './options.ts';

/** Metadata namespace in which the pick id and all that is no destination arrives; with ext_authz the destination, too. */
export function pickNamespace(mode: BootstrapMode): string {
  return mode === 'ext-authz' ? AUTHZ_NAMESPACE : PICKER_NAMESPACE;
}
