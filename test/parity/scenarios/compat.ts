import { loads, type Scenario, send, until } from '../scenario.ts';

const newer = { smg: '1.13.0' as const, ours: ['--smg-compat', '1.13'] };
const override = { ...newer, flags: ['--policy', 'round_robin', '--routing-key-override'] };
const overload = {
  ...newer,
  flags: ['--policy', 'round_robin', '--routing-key-override', '--load-monitor-interval', '1'],
  engines: { loads: true },
};
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

export const compat: readonly Scenario[] = [
  {
    title: '1.13: a valid header comes before rid',
    stand: override,
    steps: [
      send({ rid: 'a_t1', key: 'x' }),
      send(),
      send({ rid: 'a_t2', key: 'y' }),
      send({ rid: 'a_t3' }),
      send({ key: 'x_t4' }),
      send({ rid: 'b_t1', key: '' }),
      send({ rid: 'b_t2', key: 'k'.repeat(129) }),
    ],
  },
  {
    title: '1.13: what manual reads',
    stand: { ...newer, flags: ['--routing-key-headers', 'x-session', '--policy', 'manual'] },
    choice: 'stays',
    steps: [
      send({ headers: ['x-session', 's1'], group: 's1' }),
      send({ headers: ['x-session', 's1'], group: 's1' }),
      send({ headers: ['x-session', bytes('clé')], group: 'é' }),
      send({ headers: ['x-session', bytes('clé')], group: 'é' }),
      send({ headers: ['x-session', 'k'.repeat(129)], choice: 'free' }),
      send({ key: 'not listed' }),
      send({ key: 'not listed' }),
    ],
  },
  {
    title: '1.13: implicit keys of consistent_hashing',
    stand: { ...newer, flags: ['--policy', 'consistent_hashing'], engines: { count: 5 } },
    steps: [
      ...['one', 'two', 'three'].flatMap((value) => [
        send({ headers: ['x-forwarded-for', value] }),
        send({ headers: ['cookie', `s=${value}`] }),
        send({ headers: ['authorization', `Bearer ${value}`, 'cookie', `s=${value}`] }),
        send({ headers: ['x-forwarded-for', '', 'cookie', `s=${value}`], choice: 'free' }),
        send({ key: value }),
      ]),
      send({ headers: ['authorization', 'Bearer alone'], choice: 'free' }),
    ],
  },
  {
    title: '1.13: when all are overloaded the least loaded serves',
    stand: overload,
    steps: [
      send({ rid: 'over_t1' }),
      loads({ waiting: 20 }, { waiting: 12 }, { waiting: 30 }),
      until('smg_workers_overloaded', { model: 'm' }, 3),
      // Nothing is in flight, so the least loaded is by chance.
      send({ rid: 'over_t2', choice: 'free' }),
      send({ rid: 'new_t1', choice: 'free' }),
      send({ choice: 'free' }),
      loads({}, {}, {}),
      until('smg_workers_overloaded', { model: 'm' }, 0),
      send({ rid: 'over_t3' }),
    ],
  },
];
