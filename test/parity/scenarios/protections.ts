import { fail, loads, type Scenario, send, until } from '../scenario.ts';

const POLL = ['--load-monitor-interval', '1'];
const overload = {
  flags: [
    '--policy',
    'round_robin',
    '--routing-key-override',
    '--worker-overload-waiting-requests',
    '5',
    '--worker-overload-token-usage',
    '0.7',
    ...POLL,
  ],
  engines: { loads: true },
};
const breaker = {
  flags: [
    '--policy',
    'round_robin',
    '--routing-key-override',
    '--disable-retries',
    '--cb-failure-threshold',
    '3',
    '--cb-success-threshold',
    '2',
    '--cb-timeout-duration-secs',
    '2',
  ],
};
const vetoed = (count: number) => until('smg_workers_overloaded', { model: 'm' }, count);
const halfOpen = (engine: number) => until('smg_worker_cb_state', { engine: String(engine) }, 2, true);
const broken = (engine: number, state: number) => until('smg_worker_cb_state', { engine: String(engine) }, state);

export const protections: readonly Scenario[] = [
  {
    title: 'policies 2.2: the veto by waiting requests and by usage, inclusive',
    stand: overload,
    steps: [
      loads({ waiting: 5 }, { waiting: 4, usage: 0.69 }, {}),
      vetoed(1),
      send(),
      send(),
      send(),
      loads({ waiting: 0, usage: 0.7 }, {}, { waiting: 6 }),
      vetoed(2),
      send(),
      send(),
      loads({}, {}, {}),
      vetoed(0),
      send(),
      send(),
      send(),
    ],
  },
  {
    title: 'smg-observed 6: a pinned key leaves a vetoed worker, and stays away',
    stand: overload,
    steps: [
      send({ rid: 'leaves_t1' }),
      loads({ waiting: 9 }, {}, {}),
      vetoed(1),
      send({ rid: 'leaves_t2' }),
      loads({}, {}, {}),
      vetoed(0),
      send({ rid: 'leaves_t3' }),
    ],
  },
  {
    title: 'policies 2.2: all vetoed is a shed, and one that recovers is used',
    stand: overload,
    steps: [
      loads({ waiting: 9 }, { waiting: 9 }, { waiting: 9 }),
      vetoed(3),
      send(),
      send({ rid: 'shed' }),
      loads({ waiting: 9 }, {}, { waiting: 9 }),
      vetoed(2),
      send(),
      send({ rid: 'shed' }),
      loads({}, {}, {}),
      vetoed(0),
    ],
  },
  {
    title: 'policies 2.3: the breaker opens, half-opens, and closes',
    stand: breaker,
    steps: [
      send({ rid: 'broken_t1' }),
      fail(500, 0),
      send({ rid: 'broken_t2' }),
      send({ rid: 'broken_t3' }),
      send({ rid: 'broken_t4' }),
      broken(0, 1),
      send({ rid: 'broken_t5' }),
      fail(null, 0),
      send({ rid: 'broken_t6' }),
    ],
  },
  {
    title: 'policies 2.3: half-open lets all through, enough successes close, a failure opens again',
    stand: {
      flags: [
        '--policy',
        'round_robin',
        '--routing-key-override',
        '--cb-failure-threshold',
        '1',
        '--cb-success-threshold',
        '2',
        '--cb-timeout-duration-secs',
        '1',
        '--disable-retries',
      ],
      engines: { count: 1 },
    },
    steps: [
      fail(500, 0),
      send(),
      broken(0, 1),
      send(),
      halfOpen(0),
      send(),
      broken(0, 1),
      fail(null, 0),
      halfOpen(0),
      send({ rid: 'half_t1' }),
      send({ rid: 'half_t2' }),
      broken(0, 0),
      send({ rid: 'half_t3' }),
    ],
  },
  {
    title: 'policies 2.3: 429 and client errors count for nothing or as a success',
    stand: breaker,
    steps: [
      fail(429, 0, 1, 2),
      ...[1, 2, 3, 4].map((turn) => send({ rid: `calm_t${turn}` })),
      fail(404, 0, 1, 2),
      ...[5, 6, 7, 8].map((turn) => send({ rid: `calm_t${turn}` })),
    ],
  },
];
