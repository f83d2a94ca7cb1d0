import type { Loaded, Settings } from '../config/load-settings.ts';
import { POLICY_FACTS } from '../routing/policy-facts.ts';
import { parseWorkerSpec } from '../workers/worker-spec.ts';

/** What `--authz-body` may say. */
export const AUTHZ_BODY = ['auto', 'on', 'off'] as const;

/**
 * Whether decisions want bodies, as far as settings can tell (sticky-sessions 4.2): what models and policies the workers
 * themselves will name is not known here. The service decides for each request; where no body comes, headers have to do.
 */
export function wantsBodies(loaded: Loaded): boolean {
  return bodyReason(loaded) !== null;
}

/** Why decisions want bodies, to complete "because …"; null when they do not. */
export function bodyReason({ settings, workers }: Loaded): string | null {
  const { policy, prefillPolicy, decodePolicy, checkModel, modelAlias } = settings;
  const policies = [policy, prefillPolicy ?? policy, decodePolicy ?? policy];
  if (keysInBodies(settings)) return 'keys are looked for in bodies';
  const reader = policies.find((each) => POLICY_FACTS[each].needsPrompt);
  if (reader !== undefined) return `${reader} places by prompts`;
  if (checkModel) return '--check-model reads models';
  if (modelAlias.length > 0) return '--model-alias reads models';
  return modelsDiffer(workers.map(({ value }) => value)) ? 'workers serve different models' : null;
}

function keysInBodies({ policy, routingKeyOverride, routingKeySources }: Settings): boolean {
  const { readsKey, pins } = POLICY_FACTS[policy];
  if (!routingKeyOverride && !readsKey && pins !== 'own') return false;
  return routingKeySources.some((source) =>
    source === 'rid' ? routingKeyOverride : source === 'opening' || source.startsWith('body:'),
  );
}

/** Whether workers of the config file say that they serve different models. */
function modelsDiffer(workers: readonly unknown[]): boolean {
  const sets = workers.flatMap((worker) => {
    const read = parseWorkerSpec(worker);
    return read.ok && read.spec.models.length > 0 ? [[...read.spec.models].sort().join('\n')] : [];
  });
  return new Set(sets).size > 1;
}
