import { available } from '../setting.ts';
import { bool, choice, int, list, optional, real, TIMER_SECS, U32 } from '../setting-types.ts';

const CACHE = { group: 'Cache and load policies', reload: 'live', policies: ['cache_aware'] } as const;
const PREFIX = { group: 'Cache and load policies', reload: 'live', policies: ['prefix_hash'] } as const;
const LEAST = { group: 'Cache and load policies', reload: 'live', policies: ['least_load'] } as const;
const PROTECTION = { group: 'Protection', reload: 'restart' } as const;

/** Parameters of the policies that look at caches and load, and of what takes workers out under stress (policies 7). */
export const POLICY_SETTINGS = {
  cacheThreshold: available({
    type: real({ min: 0, max: 1 }),
    default: 0.3,
    help: 'share of the prompt that must match for cache affinity',
    aliases: ['cache-match-threshold'],
    ...CACHE,
  }),
  balanceAbsThreshold: available({
    type: int(),
    default: 64,
    help: 'requests above the mean at which balance beats affinity',
    aliases: ['spill-abs-threshold'],
    ...CACHE,
    policies: ['cache_aware', 'bucket'],
  }),
  balanceRelThreshold: available({
    type: real({ min: 1 }),
    default: 1.5,
    help: 'multiple of the mean at which balance beats affinity',
    aliases: ['spill-rel-threshold'],
    ...CACHE,
    policies: ['cache_aware', 'bucket'],
  }),
  balanceTokenUsageThreshold: available({
    type: real({ min: 0, above: true }),
    default: 1,
    help: 'spread of KV usage at which balance beats affinity; 1 or more: off',
    ...CACHE,
  }),
  overloadTokenUsageThreshold: available({
    type: real({ min: 0, above: true }),
    default: 1,
    help: 'KV usage at which balance beats affinity; 1 or more: off',
    ...CACHE,
  }),
  overlapDecay: available({
    type: real({ min: 0 }),
    default: 0,
    help: 'how much queued work lowers the worth of a match; 0: off',
    ...CACHE,
  }),
  selectionTemperature: available({
    type: real({ min: 0 }),
    default: 0,
    help: 'randomness among good matches; 0: always the best',
    ...CACHE,
  }),
  maxTreeSize: available({
    type: int({ min: 1 }),
    default: 67_108_864,
    help: 'most characters or tokens in one prefix tree',
    ...CACHE,
  }),
  blockSize: available({ type: int({ min: 1, max: U32 }), default: 16, help: 'tokens in one cache block', ...CACHE }),
  cacheIndex: available({
    type: choice(['tree', 'hash']),
    default: 'tree' as 'tree' | 'hash',
    help: 'how prefixes are remembered; hash needs --cache-boundaries',
    ...CACHE,
  }),
  cacheBoundaries: available({
    type: list(int({ min: 1, max: U32 }), {
      commas: true,
      whole: (items) =>
        items.every((item, index) => index === 0 || item > (items[index - 1] ?? 0))
          ? null
          : 'values must strictly ascend',
    }),
    default: [],
    help: 'prefix lengths that are hashed, ascending',
    ...CACHE,
    policies: ['cache_aware', 'prefix_hash'],
  }),
  cacheTtlSecs: available({
    type: int({ min: 1, max: U32, unit: 'secs' }),
    default: 180,
    help: 'life of an entry of the hash index, in seconds',
    ...CACHE,
  }),
  prefixTokenCount: available({
    type: int({ min: 1, max: U32 }),
    default: 256,
    help: 'leading tokens that are hashed',
    ...PREFIX,
  }),
  prefixHashLoadFactor: available({
    type: real({ min: 1 }),
    default: 1.25,
    help: 'multiple of the mean load that a ring owner may have',
    ...PREFIX,
  }),
  prefixHashBalanceAbsThreshold: available({
    type: int(),
    default: 10,
    help: 'requests above the mean that a ring owner may have; 0: the factor alone decides',
    ...PREFIX,
  }),
  leastLoadKvPressureWeight: available({
    type: real({ min: 0, unit: 'secs' }),
    default: 0.15,
    help: 'seconds that a full KV cache counts for',
    ...LEAST,
  }),
  leastLoadDefaultThroughput: available({
    type: real({ min: 0, above: true }),
    default: 2000,
    help: 'tokens per second of a worker that reports none',
    ...LEAST,
  }),
  leastLoadMeanPrefillTokens: available({
    type: int({ min: 1, max: U32 }),
    default: 1024,
    help: 'tokens that a request of unknown length counts for',
    ...LEAST,
  }),
  leastLoadMaxWaitingRequests: available({
    type: int({ max: U32 }),
    default: 0,
    help: 'waiting requests at which a worker takes no more; 0: no limit',
    ...LEAST,
  }),

  workerOverloadProtection: available({
    type: bool(),
    default: false,
    help: 'take overloaded workers out of the choice',
    ...PROTECTION,
  }),
  workerOverloadWaitingRequests: available({
    type: optional(int({ min: 1, max: U32 })),
    default: null,
    help: 'waiting requests at which a worker is overloaded',
    ...PROTECTION,
  }),
  workerOverloadTokenUsage: available({
    type: optional(real({ min: 0, max: 1, above: true })),
    default: null,
    help: 'KV usage at which a worker is overloaded',
    ...PROTECTION,
  }),
  workerOverloadShed: available({
    type: bool(),
    default: false,
    help: 'refuse requests when every worker is overloaded; always so unless --smg-compat is 1.13',
    ...PROTECTION,
  }),
  loadMonitorInterval: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 10,
    help: 'seconds between load reports',
    ...PROTECTION,
  }),
  disableLoadMonitoring: available({
    type: bool(),
    default: false,
    help: 'do not ask workers for their load for the dashboard alone; where a decision needs it they are asked all the same',
    ...PROTECTION,
  }),
  staleReportIntervals: available({
    type: int({ max: U32 }),
    default: 3,
    help: 'load-monitor intervals after which a report that none followed counts no more; 0: it always counts',
    ...PROTECTION,
  }),
  cbFailureThreshold: available({
    type: int({ min: 1, max: U32 }),
    default: 10,
    help: 'failures in a row that open the circuit breaker of a worker',
    ...PROTECTION,
  }),
  cbSuccessThreshold: available({
    type: int({ min: 1, max: U32 }),
    default: 3,
    help: 'successes in a row that close it',
    ...PROTECTION,
  }),
  cbTimeoutDurationSecs: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 60,
    help: 'seconds it stays open before a trial',
    ...PROTECTION,
  }),
  cbWindowDurationSecs: available({
    type: int({ min: 1, max: TIMER_SECS, unit: 'secs' }),
    default: 120,
    help: 'accepted as in SMG, where it has no effect either, in seconds',
    ...PROTECTION,
  }),
  disableCircuitBreaker: available({
    type: bool(),
    default: false,
    help: 'no circuit breaker',
    ...PROTECTION,
  }),
} as const;
