import { type Row, STRICT } from '../trap-rows.suite.ts';

export const EXPOSURE_ROWS: readonly Row[] = [
  ['T53', 'left out', ({ manager }) => delete manager.use_remote_address],
  [
    'T61',
    'the key header',
    ({ filter }) =>
      filter.forward_rules.disallowed_headers.patterns.push({ exact: 'X-SMG-Routing-Key', ignore_case: true }),
    [],
    ['--routing-key-sources', 'headers'],
  ],
  ['T61', 'hints', ({ filter }) => filter.forward_rules.disallowed_headers.patterns.push({ prefix: 'x-smg-target' })],
  ['T61', 'the tenant', () => undefined, [], ['--tenant-header', 'Authorization']],
  ['T61', 'a cookie with a key', () => undefined, [], ['--routing-key-sources', 'rid,cookie:sid']],
  [
    'T61',
    'all but a few',
    ({ filter }) => (filter.forward_rules = { allowed_headers: { patterns: [{ exact: 'x-smg-routing-key' }] } }),
  ],
  ['T62', 'no rules', ({ filter }) => delete filter.forward_rules],
  ['T62', 'one of two', ({ filter }) => filter.forward_rules.disallowed_headers.patterns.shift()],
  ['', 'needed as keys', ({ filter }) => delete filter.forward_rules, STRICT],
];
