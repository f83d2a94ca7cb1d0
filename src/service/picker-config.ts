/** From settings to what the picker decides by. Made anew when a reload changes one of them. */
import type { Settings } from '../config/load-settings.ts';
import { modelAliases } from '../config/model-aliases.ts';
import type { PickerConfig } from '../picker/picker-parts.ts';
import type { PinStore } from '../pins/pin-store.ts';
import type { AssignmentMode } from '../routing/assignment.ts';
import { bodyMembersFor, keySources } from '../routing/key-sources.ts';
import type { GatewayPolicy, ModelPolicies } from '../routing/model-policies.ts';
import { PairRouter } from '../routing/pairing/pair-router.ts';
import { BUCKET_DEFAULTS, type PolicyOptions } from '../routing/policy-parameters.ts';
import { createRouter, type Router, type RouterOptions } from '../routing/router.ts';
import type { KeyRules } from '../routing/routing-keys.ts';

export interface RoutingPolicies {
  readonly whole: ModelPolicies;
  /** Null where requests are not split. */
  readonly legs: LegPolicies | null;
}

/** Always instances of their own, also where their names are the same (policies 4.1). */
export interface LegPolicies {
  readonly prefill: ModelPolicies;
  readonly decode: ModelPolicies;
}

export function pickerConfigOf(settings: Settings, pins: PinStore, policies: RoutingPolicies): PickerConfig {
  const keys = keyRulesOf(settings);
  return {
    router: routerOf(settings, pins, policies, keys),
    bodyMembers: bodyMembersFor(keys.sources),
    maxPayloadBytes: settings.maxPayloadSize,
    bodyEditLimitBytes: settings.envoyBodyLimit,
    requestIdHeaders: settings.requestIdHeaders,
    errorStyle: settings.errorStyle,
    decisionHeader: settings.decisionHeader,
    testEndpointSelection: settings.testEndpointSelection,
    shedRetryAfterSecs: settings.loadMonitorInterval,
    routeRetries: Math.max(0, settings.retryMaxRetries - 1),
    prefillRetry: {
      mostTries: settings.disableRetries ? 1 : settings.retryMaxRetries,
      initialMs: settings.retryInitialBackoffMs,
      maxMs: settings.retryMaxBackoffMs,
      multiplier: settings.retryBackoffMultiplier,
      jitter: settings.retryJitterFactor,
    },
    modelAliases: modelAliases(settings.modelAlias),
  };
}

function routerOf(settings: Settings, pins: PinStore, { whole, legs }: RoutingPolicies, keys: KeyRules): Router {
  const options: RouterOptions = {
    policies: whole,
    pins,
    keys,
    overrideMode: settings.assignmentMode ?? 'delegate',
    inflightCap: settings.pinInflightCap,
    pinLoadFactor: settings.pinLoadFactor ?? 0,
    failback: settings.failback,
    tenantHeader: settings.tenantHeader,
    fallbacks: settings.fallbacks,
    shed: settings.smgCompat === '1.11' || settings.workerOverloadShed,
    learnFromPins: settings.learnFromPins,
    checkModel: settings.checkModel,
  };
  const single = createRouter(options);
  if (legs === null) return single;
  // A sidecar makes the bodies of both legs itself.
  const readsBodies = settings.pdDispatch !== 'header';
  const mirrored = settings.pdDispatch === 'mirror';
  return new PairRouter(single, options, { ...legs, mode: settings.pdPairingMode, readsBodies, mirrored });
}

/** The policy that the operator chose, of one leg where requests are split. */
export function gatewayPolicyOf(settings: Settings, leg: 'prefill' | 'decode' | null = null): GatewayPolicy {
  const { policy, prefillPolicy, decodePolicy } = settings;
  const own = leg === null ? null : leg === 'prefill' ? prefillPolicy : decodePolicy;
  return { name: own ?? policy, options: policyOptionsOf(settings) };
}

function policyOptionsOf(settings: Settings): PolicyOptions {
  const { balanceAbsThreshold, balanceRelThreshold, cacheBoundaries } = settings;
  return {
    keys: keyRulesOf(settings),
    manualMode: manualModeOf(settings),
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

function manualModeOf({ policyAssignmentMode }: Settings): AssignmentMode {
  return policyAssignmentMode ?? 'random';
}

function keyRulesOf(settings: Settings): KeyRules {
  return {
    override: settings.routingKeyOverride,
    sources: keySources(settings.routingKeySources),
    headers: settings.routingKeyHeaders,
    implicitHeaders: settings.implicitKeys,
    manualReadsList: settings.smgCompat === '1.13',
  };
}
