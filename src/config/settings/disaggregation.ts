import { PAIRING_MODES, type PairingMode } from '../../routing/pairing/compatibility.ts';
import { POLICY_NAMES } from '../../routing/policy-name.ts';
import { available } from '../setting.ts';
import { bool, choice, int, list, optional, text } from '../setting-types.ts';
import { policyChoice } from './routing.ts';

const GROUP = 'Prefill and decode';
const PD = { group: GROUP, reload: 'restart' } as const;
const LIVE = { group: GROUP, reload: 'live' } as const;
const prefillPolicies = POLICY_NAMES.filter((name) => name !== 'passthrough');
const decodePolicies = prefillPolicies.filter((name) => name !== 'bucket');

/** A prefill worker: URL, and the bootstrap port as the next word (policies 7). */
const prefillWord = text(
  'a worker URL, then its bootstrap port (1 to 65535) or none',
  (value) => (BOOTSTRAP.test(value) ? isBootstrapPort(value) : URL_START.test(value) && URL.canParse(value)),
  'url|port',
);
const BOOTSTRAP = /^(none|\d+)$/i;
const URL_START = /^[a-z+]+:\/\//;

function isBootstrapPort(word: string): boolean {
  return word.toLowerCase() === 'none' || (Number(word) >= 1 && Number(word) <= 65_535);
}

/** Workers of which some only prefill and others only decode. */
export const DISAGGREGATION_SETTINGS = {
  pdDisaggregation: available({ type: bool(), default: false, help: 'separate prefill and decode workers', ...PD }),
  prefill: available({
    type: list(prefillWord, {
      some: true,
      whole: (words) =>
        words.some((word, index) => !word.includes('://') && !(words[index - 1] ?? '').includes('://'))
          ? 'a bootstrap port follows a URL'
          : null,
    }),
    default: [],
    help: 'prefill worker and its bootstrap port, which SGLang needs; once for each worker',
    ...LIVE,
  }),
  decode: available({
    type: list(
      text('a worker URL', (value) => value !== '', 'url'),
      { some: true },
    ),
    default: [],
    help: 'decode worker; once for each worker',
    ...LIVE,
  }),
  prefillPolicy: available({
    type: optional(policyChoice(prefillPolicies)),
    default: null,
    help: 'policy of the prefill leg; unset: --policy',
    ...LIVE,
  }),
  decodePolicy: available({
    type: optional(policyChoice(decodePolicies)),
    default: null,
    help: 'policy of the decode leg; unset: --policy',
    ...LIVE,
  }),
  pdPairingMode: available({
    type: choice(PAIRING_MODES),
    default: 'lenient' as PairingMode,
    help: 'how far both legs must be known to fit each other',
    ...LIVE,
  }),
  pdPrefillTimeoutSecs: available({
    type: int({ min: 1, max: 3598, unit: 'secs' }),
    default: 58,
    help: 'longest wait of a request for the prefill that this service sends; Envoy waits that long for its answer',
    ...PD,
  }),
  pdDispatch: available({
    type: choice(['service', 'header', 'mirror']),
    default: 'service' as 'service' | 'header' | 'mirror',
    help: 'who sends the prefill: this service, a sidecar of the decode worker, or Envoy (experimental)',
    ...PD,
  }),
} as const;
