import { gauges, hold, loads, release, type Scenario, type Step, send, spread } from '../scenario.ts';

const POLL = ['--load-monitor-interval', '1'];
const leastLoad = (...flags: string[]) => ({
  flags: ['--policy', 'least_load', ...POLL, ...flags],
  engines: { loads: true },
});
const two = (...flags: string[]) => ({
  flags: ['--policy', 'least_load', ...POLL, ...flags],
  engines: { count: 2, loads: true },
});
const powerOfTwo = { flags: ['--policy', 'power_of_two', ...POLL], engines: { loads: true } };
const times = (count: number): readonly Step[] => Array.from({ length: count }, () => send());
const ids = (count: number): string => Array.from({ length: count }, (_, id) => id).join(',');

export const engineLoad: readonly Scenario[] = [
  {
    title: 'policies 1.5.4: waiting tokens over throughput, and the credit of picks since',
    stand: leastLoad(),
    steps: [
      loads({ tokens: 8000, throughput: 100 }, { tokens: 1000, throughput: 100 }, { tokens: 3000, throughput: 100 }),
      ...times(12),
    ],
  },
  {
    title: 'policies 1.5.4: waiting requests where no tokens are told',
    stand: leastLoad(),
    steps: [loads({ waiting: 64 }, { waiting: 6 }, { waiting: 21 }), ...times(14)],
  },
  {
    title: 'policies 1.5.4: tokens win over requests',
    stand: two(),
    steps: [loads({ tokens: 500, waiting: 200 }, { tokens: 8000 }), ...times(10)],
  },
  {
    title: 'policies 1.5.4: throughput',
    stand: two(),
    steps: [loads({ tokens: 5000, throughput: 50 }, { tokens: 5000, throughput: 500 }), ...times(10)],
  },
  {
    title: 'policies 1.5.4: KV pressure',
    stand: two(),
    steps: [loads({ usage: 0.5 }, { usage: 0.9 }), ...times(5), loads({ usage: 1 }, { usage: 0.99 }), ...times(5)],
  },
  {
    title: 'policies 1.5.1: --least-load-* flags',
    stand: two(
      ...['--least-load-kv-pressure-weight', '2', '--least-load-mean-prefill-tokens', '100'],
      ...['--least-load-default-throughput', '1000'],
    ),
    steps: [loads({ usage: 0.98 }, { waiting: 3 }), ...times(6), loads({ waiting: 9 }, { tokens: 410 }), ...times(10)],
  },
  {
    title: 'policies 1.5.4: known tokens of the request are its credit',
    stand: two(),
    steps: [loads({}, { tokens: 2048 }), send({ hint: ids(500) }), ...times(6)],
  },
  {
    title: 'policies 1.5.4: the cap of waiting requests',
    stand: two('--least-load-max-waiting-requests', '48', '--disable-retries', '--routing-key-override'),
    steps: [loads({ waiting: 64 }, { waiting: 6 }), ...times(3), loads({ waiting: 64 }, { waiting: 50 }), send()],
  },
  {
    title: 'policies 1.5.2: without reports the shortest queue',
    stand: { flags: ['--policy', 'least_load'] },
    choice: 'stays',
    steps: [
      // Of one group: each goes elsewhere than the one before.
      ...[1, 2, 3].map((index) => hold(`dark${index}`, { group: 'dark', text: `held ${index}` })),
      gauges,
      ...release('dark2'),
      ...release('dark1', 'dark3'),
    ],
  },
  {
    title: 'policies 1.5.4: equal scores are drawn with equal odds',
    stand: { flags: ['--policy', 'least_load'] },
    choice: 'free',
    steps: [spread(90)],
  },
  {
    title: 'policies 1.4: of two drawn workers the one with the lower score',
    stand: powerOfTwo,
    choice: 'free',
    steps: [loads({}, { tokens: 100_000_000 }, { tokens: 900_000_000 }), spread(90)],
  },
  {
    title: 'sticky-sessions 3.13: a pin is kept whatever the load',
    stand: leastLoad('--routing-key-override'),
    steps: [
      loads({ tokens: 1000, throughput: 100 }, { tokens: 9000, throughput: 100 }, { tokens: 9000, throughput: 100 }),
      send({ rid: 'loaded_t1' }),
      loads({ tokens: 90_000, throughput: 100 }, { tokens: 0, throughput: 100 }, { tokens: 500, throughput: 100 }),
      send({ rid: 'loaded_t2' }),
      send({ rid: 'new_t1' }),
      send({ rid: 'loaded_t3' }),
    ],
  },
];
