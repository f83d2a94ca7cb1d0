import { type Scenario, send } from '../scenario.ts';

const override = { flags: ['--policy', 'round_robin', '--routing-key-override'] };
const manual = { flags: ['--policy', 'manual'] };
const hashing = { flags: ['--policy', 'consistent_hashing'], engines: { count: 5 } };
const manualOverride = { flags: ['--policy', 'manual', '--routing-key-override'] };
const hashingOverride = { flags: ['--policy', 'consistent_hashing', '--routing-key-override'], engines: { count: 5 } };

/** Bytes as a header carries them. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

/** sticky-sessions 2.2: what is sent, and the key it has. */
const LINEAGE: readonly (readonly [string, string])[] = [
  ['conv', 'conv'],
  ['conv_t1', 'conv'],
  ['conv_t12', 'conv'],
  ['conv_t02', 'conv'],
  ['conv_t2_r1', 'conv'],
  ['conv_r1', 'conv'],
  ['conv_t1_t2', 'conv_t1_t9'],
  ['conv_r1_r2', 'conv_r1_r9'],
  ['conv_r1_t2', 'conv_r1_t9'],
  ['conv_t2_r1_r2', 'conv_t2_r1_r9'],
  ['a_t1_r1_t2', 'a_t1_r1_t9'],
  ['conv_t', 'conv_t_t1'],
  ['conv_r', 'conv_r_t1'],
  ['conv_tx1', 'conv_tx1_t1'],
  ['conv_t1_r', 'conv_t1_r_t1'],
  ['conv_T2', 'conv_T2_t1'],
  ['conv-t2', 'conv-t2_t1'],
  ['conv_turn2', 'conv_turn2_t1'],
  ['conv_t-1', 'conv_t-1_t1'],
  ['conv_t1.5', 'conv_t1.5_t1'],
  ['conv_t１', 'conv_t１_t1'],
  ['conv_t1_', 'conv_t1__t1'],
  ['under_scored_id', 'under_scored_id_t1'],
  ['no-suffix', 'no-suffix_t1'],
  ['t1', 't1_t1'],
  ['conv__t1', 'conv__t2'],
  ['__t1', '__t2'],
  ['_t1', '_t1_t2'],
  ['_r1', '_r1_t2'],
  ['_t1_r1', '_t1_r1'],
  ['_r1_t1', '_r1_t2'],
  ['conv_t1 ', 'conv_t1 _t1'],
  ['', ''],
];

/** sticky-sessions 1.1: values of the key header. */
const VALUES: readonly (readonly string[])[] = [
  ['session-abc'],
  [''],
  ['k'.repeat(128)],
  ['k'.repeat(129)],
  [bytes('clé-café')],
  ['\xc3\x28'],
  [bytes('é'.repeat(64))],
  [bytes('é'.repeat(65))],
  ['', 'abc'],
  ['abc', ''],
  ['A'],
  ['a'],
  ['a b'],
];

const valued = (values: readonly string[], name = 'x-smg-routing-key') => ({
  headers: values.flatMap((value) => [name, value]),
  group: values.join('|'),
});

export const keyRules: readonly Scenario[] = [
  ...LINEAGE.map(([sent, key], row) => ({
    title: `sticky-sessions 2.2: rid ${JSON.stringify(sent)} has the key of ${JSON.stringify(key)}`,
    stand: override,
    // Between the rows each conversation has a name of its own.
    steps: [send({ rid: sent.replace('conv', `l${row}`) }), send(), send({ rid: key.replace('conv', `l${row}`) })],
  })),
  {
    title: 'sticky-sessions 2.2: lineage of header keys',
    stand: override,
    steps: LINEAGE.flatMap(([sent, key]) => [
      send({ key: bytes(`h${sent}`) }),
      send(),
      send({ key: bytes(`h${key}`) }),
    ]),
  },
  {
    title: 'sticky-sessions 2.3: the cap of 128 bytes',
    stand: override,
    steps: [
      send({ rid: `${'k'.repeat(126)}_t1` }),
      send(),
      send({ rid: `${'k'.repeat(126)}_t22` }),
      send({ key: `${'m'.repeat(126)}_t1` }),
      send({ key: `${'m'.repeat(126)}_t1` }),
      send({ rid: `${'k'.repeat(200)}_t1` }),
      send({ rid: `${'k'.repeat(200)}_t1`, key: 'short_t3' }),
      send(),
      send({ key: 'short_t4' }),
      send({ key: `${'k'.repeat(125)}_t1` }),
      send(),
      send({ key: `${'k'.repeat(125)}_t2` }),
      send({ rid: 'é'.repeat(64) }),
      send({ rid: 'é'.repeat(65) }),
    ],
  },
  {
    title: 'sticky-sessions 2.4: rid before header',
    stand: override,
    steps: [
      send({ rid: 'a_t1', key: 'x' }),
      send(),
      send({ rid: 'a_t2_r1', key: 'y' }),
      send({ key: 'y' }),
      send({ key: 'y_t2' }),
      send({ rid: '', key: 'y' }),
      send({ rid: null, key: 'y' }),
    ],
  },
  {
    title: 'sticky-sessions 2.4: rid before header under manual',
    stand: manualOverride,
    choice: 'stays',
    steps: [
      send({ rid: 'a_t1', key: 'x', group: 'a' }),
      send({ rid: 'a_t2', key: 'y', group: 'a' }),
      send({ rid: 'a_t3_r1', group: 'a' }),
      send({ key: 'b_t2' }),
      send({ key: 'b_t2' }),
      send({ key: 'a', group: 'a' }),
    ],
  },
  {
    title: 'sticky-sessions 2.4: rid before header under consistent_hashing',
    stand: hashingOverride,
    steps: [
      ...['c1', 'c2', 'c3', 'c4', 'c5'].flatMap((name) => [
        send({ rid: `${name}_t1`, key: 'x' }),
        send({ rid: `${name}_t2` }),
        send({ key: `${name}_t2` }),
        send({ key: name }),
      ]),
      send({ rid: 'c1_t1', target: '3' }),
    ],
  },
  {
    title: 'sticky-sessions 1.1: values of the key header, override',
    stand: override,
    steps: VALUES.flatMap((values) => [send(valued(values)), send(), send(valued(values))]),
  },
  {
    title: 'sticky-sessions 1.1: values of the key header, manual',
    stand: manual,
    steps: VALUES.flatMap((values) => {
      // Without a key the choice is by chance.
      const choice = /^[\x20-\x7e]+$/u.test(values[0] ?? '') ? 'stays' : 'free';
      return [send({ ...valued(values), choice }), send({ ...valued(values), choice })];
    }),
  },
  {
    title: 'sticky-sessions 1.1: values of the key header, consistent_hashing',
    stand: hashing,
    steps: VALUES.map((values) => {
      const size = Buffer.from(values[0] ?? '', 'latin1').length;
      return send({
        ...valued(values),
        choice: size > 0 && size <= 128 && values[0] !== '\xc3\x28' ? 'exact' : 'free',
      });
    }),
  },
  {
    title: 'sticky-sessions 1.3: the list of key headers',
    stand: {
      flags: [
        '--routing-key-headers',
        'X-Routing-Key',
        'x-smg-routing-key',
        '--policy',
        'round_robin',
        '--routing-key-override',
      ],
    },
    steps: [
      send({ headers: ['x-routing-key', 'primary', 'x-smg-routing-key', 'legacy'] }),
      send(),
      send({ headers: ['x-routing-key', 'primary'] }),
      send({ headers: ['x-smg-routing-key', 'legacy'] }),
      send({ headers: ['x-routing-key', 'k'.repeat(129), 'x-smg-routing-key', 'legacy'] }),
      send({ headers: ['x-routing-key', ''] }),
      send({ headers: ['X-ROUTING-KEY', 'primary'] }),
    ],
  },
  {
    title: 'sticky-sessions 1.3: the list replaces the default',
    stand: { flags: ['--routing-key-headers', 'x-session', '--policy', 'prefix_hash'], engines: { count: 5 } },
    steps: ['k1', 'k2', 'k3', 'k4'].flatMap((key) => [send({ headers: ['x-session', key] }), send({ key })]),
  },
  {
    title: 'sticky-sessions 1.3: the list under manual and consistent_hashing',
    stand: { flags: ['--routing-key-headers', 'x-session', '--policy', 'consistent_hashing'], engines: { count: 5 } },
    steps: ['k1', 'k2', 'k3'].flatMap((key) => [
      send({ headers: ['x-session', key] }),
      send({ key }),
      send({ headers: ['x-session', key, 'x-smg-routing-key', 'other'] }),
    ]),
  },
  {
    title: 'sticky-sessions 3.14: implicit keys of consistent_hashing',
    stand: hashing,
    steps: [
      ...['one', 'two', 'three', 'four'].flatMap((value) => [
        send({ headers: ['authorization', `Bearer ${value}`] }),
        send({ headers: ['x-forwarded-for', value] }),
        send({ headers: ['cookie', `s=${value}`] }),
        send({ headers: ['authorization', `Bearer ${value}`, 'cookie', 'other=1'] }),
        send({ headers: ['x-forwarded-for', value, 'cookie', 'other=1'] }),
        send({ headers: ['authorization', `Bearer ${value}`], key: 'explicit' }),
      ]),
      send({ headers: ['authorization', '', 'cookie', 's=1'], choice: 'free' }),
      send({ headers: ['x-forwarded-for', bytes('é'), 'cookie', 's=1'], choice: 'free' }),
    ],
  },
];
