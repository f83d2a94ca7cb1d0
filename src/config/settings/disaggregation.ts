import { POLICY_NAMES } from '../../routing/policy-name.ts';
import { available, later } from '../setting.ts';
import { bool, choice, list, optional, text } from '../setting-types.ts';
import { httpUrl } from '../text-types.ts';
import { policyChoice } from './routing.ts';

const PD = { group: 'Prefill and decode', reload: 'restart' } as const;
const prefillPolicies = POLICY_NAMES.filter((name) => name !== 'passthrough');
const decodePolicies = prefillPolicies.filter((name) => name !== 'bucket');

/** A prefill worker: URL, and the bootstrap port as the next word (policies 7). */
const prefillWord = text(
  'a worker URL, then its bootstrap port or none',
  (value) => /^(none|\d{1,5})$/.test(value) || (/^[a-z]+:\/\//.test(value) && URL.canParse(value)),
  'url [port]',
);

/** Workers of which some only prefill and others only decode. */
export const DISAGGREGATION_SETTINGS = {
  pdDisaggregation: later({ type: bool(), default: false, help: 'separate prefill and decode workers', ...PD }),
  prefill: later({
    type: list(prefillWord, {
      whole: (words) =>
        words.some((word, index) => !word.includes('://') && !(words[index - 1] ?? '').includes('://'))
          ? 'a bootstrap port follows a URL'
          : null,
    }),
    default: [],
    help: 'prefill worker and its bootstrap port',
    ...PD,
  }),
  decode: later({ type: list(httpUrl()), default: [], help: 'decode worker', ...PD }),
  prefillPolicy: available({
    type: optional(policyChoice(prefillPolicies)),
    default: null,
    help: 'policy of the prefill leg; unset: --policy',
    ...PD,
  }),
  decodePolicy: available({
    type: optional(policyChoice(decodePolicies)),
    default: null,
    help: 'policy of the decode leg; unset: --policy',
    ...PD,
  }),
  pdPairingMode: later({
    type: choice(['off', 'lenient', 'strict']),
    default: 'lenient' as 'off' | 'lenient' | 'strict',
    help: 'how compatible both legs must be',
    ...PD,
  }),
  pdDispatch: later({
    type: choice(['service', 'header', 'mirror']),
    default: 'service' as 'service' | 'header' | 'mirror',
    help: 'who sends the prefill request',
    ...PD,
  }),
} as const;
