import { ASSIGNMENT_MODES } from '../../routing/assignment.ts';
import { KEY_ORDERS, KEY_SOURCE_FORM, type KeyOrder, parseKeySource } from '../../routing/key-sources.ts';
import { POLICY_NAMES, type PolicyName, policyNameOf } from '../../routing/policy-name.ts';
import { FAILBACKS, type Failback } from '../../routing/stickiness.ts';
import { available, type SettingType } from '../setting.ts';
import { bool, choice, int, list, optional, real, TIMER_SECS, text, U32 } from '../setting-types.ts';
import { headerName } from '../text-types.ts';

/** Policy names in any case, with or without underscores (policies 0.4). */
export function policyChoice<const V extends PolicyName>(names: readonly V[]): SettingType<V> {
  return choice(names, (word) => policyNameOf(word) ?? word);
}

/** Neither blanks nor commas, which separate the sources. */
const keySource = text(KEY_SOURCE_FORM, (value) => !/[\s,]/.test(value) && parseKeySource(value) !== null, 'source');

/** How a worker is chosen, and how conversations stay with theirs (policies 7, sticky-sessions 1.3 and 3.11). */
export const ROUTING_SETTINGS = {
  policy: available({
    type: policyChoice(POLICY_NAMES),
    default: 'cache_aware' as PolicyName,
    help: 'how a worker is chosen for a request without a pin',
    group: 'Routing',
    reload: 'live',
  }),
  checkModel: available({
    type: bool(),
    default: false,
    help: 'read the body to refuse a model that nobody serves, also where all workers serve the same',
    group: 'Routing',
    reload: 'live',
  }),
  implicitKeys: available({
    type: list(headerName(), { none: 'none' }),
    default: ['authorization', 'x-forwarded-for', 'cookie'],
    help: 'headers that act as keys under consistent_hashing; none: no header does',
    group: 'Routing',
    reload: 'live',
  }),
  smgCompat: available({
    type: { ...choice(['1.11', '1.13']), placeholder: '1.11|1.13' },
    default: '1.11' as '1.11' | '1.13',
    help: 'release of SMG whose defaults hold',
    group: 'Routing',
    reload: 'live',
  }),

  routingKeyOverride: available({
    type: bool(),
    default: false,
    help: 'sticky sessions: keep each conversation on its worker, above any policy',
    group: 'Sticky sessions',
    reload: 'live',
    aliases: ['sticky-sessions'],
  }),
  routingKeyHeaders: available({
    type: list(headerName()),
    default: ['x-smg-routing-key'],
    help: 'headers that may hold the routing key, first valid one wins; without a value: none does',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  routingKeyOrder: available({
    type: choice(KEY_ORDERS),
    default: 'rid-first' as KeyOrder,
    help: 'which key wins; header-only never reads the body for it',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  routingKeySources: available({
    type: list(keySource, {
      commas: true,
      whole: (items) =>
        items.length === 0
          ? 'at least one source is needed'
          : new Set(items).size < items.length
            ? 'a source stands twice'
            : null,
    }),
    default: ['rid', 'headers'],
    help: 'where the key is looked for, in this order',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  assignmentMode: available({
    type: optional(choice(ASSIGNMENT_MODES)),
    default: null,
    help: 'how a new key gets its worker; unset: delegate under the override, random under manual',
    group: 'Sticky sessions',
    reload: 'live',
    policies: ['manual'],
  }),
  maxIdleSecs: available({
    type: int({ max: U32, unit: 'secs' }),
    default: 14_400,
    help: 'seconds without use after which a pin is forgotten; 0: never',
    group: 'Sticky sessions',
    reload: 'live',
    aliases: ['sticky-key-idle-secs'],
    policies: ['manual'],
  }),
  evictionInterval: available({
    type: int({ max: TIMER_SECS, unit: 'secs' }),
    default: 120,
    help: 'seconds between sweeps for idle pins; 0: no sweep',
    group: 'Sticky sessions',
    reload: 'live',
    aliases: ['eviction-interval-secs'],
    policies: ['manual', 'cache_aware'],
  }),
  maxPins: available({
    // A JavaScript Map ends at 2^24 entries.
    type: int({ min: 1, max: 16_000_000 }),
    default: 1_000_000,
    help: 'most pins remembered; the least recently used leave first',
    group: 'Sticky sessions',
    reload: 'restart',
  }),
  pinInflightCap: available({
    type: int({ max: U32 }),
    default: 2,
    help: 'requests of a key in flight on its worker at which the next is placed anew; 0: never',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  failback: available({
    type: choice(FAILBACKS),
    default: 'as-smg' as Failback,
    help: 'whether a conversation goes back to its first worker when that returns',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  learnFromPins: available({
    type: bool(),
    default: false,
    help: 'let the policy learn from requests that a pin placed, where their body is read',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  pinLoadFactor: available({
    type: optional(real({ min: 1, unit: 'factor' })),
    default: null,
    help: 'multiple of the mean load above which a pinned worker is left',
    group: 'Sticky sessions',
    reload: 'live',
  }),
  tenantHeader: available({
    type: optional(headerName()),
    default: null,
    help: 'header whose value keeps the keys of tenants apart; Envoy must set it, not the client',
    group: 'Sticky sessions',
    reload: 'live',
  }),
} as const;
