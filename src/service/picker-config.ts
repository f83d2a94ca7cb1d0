/** From settings to what the picker decides by. Made anew when a reload changes one of them. */
import type { Settings } from '../config/load-settings.ts';
import type { PickerConfig } from '../picker/picker.ts';
import type { PinStore } from '../pins/pin-store.ts';
import type { AssignmentMode } from '../routing/assignment.ts';
import { createPolicy } from '../routing/policies/create-policy.ts';
import type { Policy } from '../routing/policy.ts';
import { isBuiltPolicy } from '../routing/policy-name.ts';
import { BUCKET_DEFAULTS, type PolicyOptions } from '../routing/policy-parameters.ts';
import { createRouter } from '../routing/router.ts';
import type { KeyOrder, KeyRules } from '../routing/routing-keys.ts';
import { AppError } from '../util/app-error.ts';

/** @param running the policy in force, kept with its state when the new settings want the same one */
export function pickerConfigOf(settings: Settings, pins: PinStore, running: Policy | null): PickerConfig {
  const keys = keyRulesOf(settings);
  const manualMode = settings.policyAssignmentMode ?? 'random';
  const keeps = running !== null && running.name === settings.policy && running.name === 'round_robin';
  // The settings refuse a policy that is not there before it comes this far.
  if (!isBuiltPolicy(settings.policy)) throw new AppError('internal', `policy ${settings.policy} is not built`);
  const policy = keeps ? running : createPolicy(settings.policy, policyOptionsOf(settings, keys, manualMode));
  return {
    router: createRouter({
      policy,
      pins,
      keys,
      overrideMode: settings.assignmentMode ?? 'delegate',
      manualMode,
      inflightCap: settings.pinInflightCap,
      fallbacks: settings.fallbacks,
    }),
    readsRid: keys.override && keys.order !== 'header-only',
    maxPayloadBytes: settings.maxPayloadSize,
    requestIdHeaders: settings.requestIdHeaders,
    errorStyle: settings.errorStyle,
    decisionHeader: settings.decisionHeader,
  };
}

function policyOptionsOf(settings: Settings, keys: KeyRules, manualMode: AssignmentMode): PolicyOptions {
  const { balanceAbsThreshold, balanceRelThreshold, cacheBoundaries } = settings;
  return {
    keys,
    manualMode,
    leastLoad: {
      kvPressureWeight: settings.leastLoadKvPressureWeight,
      meanPrefillTokens: settings.leastLoadMeanPrefillTokens,
      defaultThroughput: settings.leastLoadDefaultThroughput,
      maxWaitingRequests: settings.leastLoadMaxWaitingRequests,
    },
    cacheAware: {
      cacheThreshold: settings.cacheThreshold,
      balanceAbsThreshold,
      balanceRelThreshold,
      maxTreeSize: settings.maxTreeSize,
      blockSize: settings.blockSize,
      balanceTokenUsageThreshold: settings.balanceTokenUsageThreshold,
      overloadTokenUsageThreshold: settings.overloadTokenUsageThreshold,
      overlapDecay: settings.overlapDecay,
      selectionTemperature: settings.selectionTemperature,
      cacheIndex: settings.cacheIndex,
      cacheBoundaries,
      cacheTtlMs: settings.cacheTtlSecs * 1000,
      evictionIntervalMs: settings.policyEvictionInterval * 1000,
    },
    prefixHash: {
      prefixTokenCount: settings.prefixTokenCount,
      loadFactor: settings.prefixHashLoadFactor,
      balanceAbsThreshold: settings.prefixHashBalanceAbsThreshold,
      cacheBoundaries,
    },
    bucket: { balanceAbsThreshold, balanceRelThreshold, adjustIntervalMs: BUCKET_DEFAULTS.adjustIntervalMs },
  };
}

function keyRulesOf(settings: Settings): KeyRules {
  return {
    override: settings.routingKeyOverride,
    order: keyOrderOf(settings.routingKeySources),
    headers: settings.routingKeyHeaders,
    implicitHeaders: settings.implicitKeys,
  };
}

/** The order of the two extractors there are (decisions 39). */
function keyOrderOf(sources: readonly string[]): KeyOrder {
  const rid = sources.indexOf('rid');
  if (rid < 0) return 'header-only';
  const headers = sources.indexOf('headers');
  return headers >= 0 && headers < rid ? 'header-first' : 'rid-first';
}
