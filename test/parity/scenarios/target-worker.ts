import { healthy, type Scenario, send } from '../scenario.ts';

const once = { flags: ['--policy', 'consistent_hashing', '--disable-retries'] };
const retried = { flags: ['--policy', 'consistent_hashing'] };
const HITS = ['0', '1', '2', '+1', '01', '00002'];
const MISSES = ['3', '5', '-1', '1.0', '1,2', '1 2', '0x1', 'abc', '99999999999999999999999', '++1'];

export const targetWorker: readonly Scenario[] = [
  {
    title: 'sticky-sessions 1.4: an index names the worker',
    stand: retried,
    steps: HITS.flatMap((target) => [send({ target }), send({ target, key: 'some-key' })]),
  },
  {
    title: 'sticky-sessions 1.4: a value that names none is a miss',
    stand: once,
    steps: MISSES.map((target) => send({ target, key: 'some-key' })),
  },
  {
    title: 'sticky-sessions 1.4: an empty value or one beyond ASCII is no target',
    stand: retried,
    steps: [
      send({ target: '', key: 'k1' }),
      send({ target: '\xc3\xa9', key: 'k2' }),
      send({ target: '１'.slice(0, 0), key: 'k3' }),
    ],
  },
  {
    title: 'sticky-sessions 1.4: a miss with retries on',
    stand: retried,
    steps: [send({ target: '9' })],
  },
  {
    title: 'sticky-sessions 1.4: the index counts the workers that are available',
    stand: retried,
    steps: [
      healthy(0, 2),
      send({ target: '0' }),
      send({ target: '1' }),
      send({ target: '2' }),
      healthy(0, 1, 2),
      send({ target: '1' }),
    ],
  },
  {
    title: 'sticky-sessions 1.4: other policies ignore it',
    stand: { flags: ['--policy', 'round_robin', '--routing-key-override'] },
    steps: [
      send({ target: '2' }),
      send({ target: '9' }),
      send({ target: '0', rid: 't_t1' }),
      send({ target: '0', rid: 't_t2' }),
    ],
  },
];
