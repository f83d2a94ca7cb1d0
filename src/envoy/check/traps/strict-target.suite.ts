import { type Row, STRICT } from '../trap-rows.suite.ts';

export const STRICT_TARGET_ROWS: readonly Row[] = [
  ['T52', 'no allow_envoy', ({ filter }) => delete filter.mutation_rules, STRICT],
  [
    'T52',
    'a plain fallback',
    ({ override }) => {
      const name = 'envoy.load_balancing_policies.least_request';
      const typed_config = {
        '@type': `type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest`,
      };
      override.fallback_policy = { policies: [{ typed_extension_config: { name, typed_config } }] };
    },
    STRICT,
  ],
  ['T52', 'a further key', ({ override }) => (override.selected_host_key.key = 'envoy.lb'), STRICT],
  ['T52:n', 'where nobody asks for one worker', ({ filter }) => delete filter.mutation_rules],
];
