import { member, partOf, scalarOf, type Tree, textOf, wholeOf } from '../tree.ts';
import { PatchedEnvoy } from './patched-envoy.ts';

const EXT_PROC = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor';

/** The ext_proc filters of the `GatewayExtension` resources of kgateway among these; null when there are none. */
export function kgatewayPatches(resources: readonly Tree[]): Tree | null {
  let envoy: PatchedEnvoy | null = null;
  for (const resource of resources) {
    const extProc = member(resource, 'spec', 'extProc');
    if (textOf(member(resource, 'kind')) !== 'GatewayExtension' || extProc === null) continue;
    envoy ??= new PatchedEnvoy(resource.place);
    envoy.addFilter(filterOf(extProc));
  }
  return envoy?.tree() ?? null;
}

/** Its fields bear Envoy's names, but for a few; it fails open by itself (envoy 16.3). */
function filterOf(extProc: Tree): Tree {
  const { place } = extProc;
  const config = partOf(place, {
    '@type': scalarOf(place, EXT_PROC),
    failure_mode_allow: member(extProc, 'failOpen') ?? scalarOf(place, true),
    processing_mode: member(extProc, 'processingMode') ?? partOf(place, {}),
    allow_mode_override: member(extProc, 'allowProcessingModeOverride') ?? scalarOf(place, false),
    allowed_override_modes: member(extProc, 'allowedProcessingModeOverrides'),
    // Fields for it are not there in its releases that were read (envoy 16.3).
    metadata_options: wholeOf(place, { receiving_namespaces: member(extProc, 'metadataOptions', 'receiving') }),
    message_timeout: member(extProc, 'messageTimeout') ?? scalarOf(place, '0.2s'),
    max_message_timeout: member(extProc, 'maxMessageTimeout') ?? scalarOf(place, '0s'),
  });
  return partOf(place, { name: scalarOf(place, 'ext_proc'), typed_config: config });
}
