import { gauges, healthy, hold, release, type Scenario, type Step, send } from '../scenario.ts';

/**
 * sticky-sessions 3.7 with the assignment forced: at each assignment one worker is available, so the trace is the same in
 * every mode. A is engine 0, B is 1, C is 2.
 */
const trace = (request: { key?: string; rid?: string }): readonly Step[] => [
  healthy(0),
  send(request),
  healthy(1),
  send(request),
  healthy(0, 1),
  send(request),
  healthy(2),
  send(request),
  healthy(0, 1, 2),
  send(request),
  send(request),
  healthy(0, 1),
  send(request),
  healthy(0, 1, 2),
  send(request),
];

const keys = Array.from({ length: 12 }, (_, index) => `user-${index}`);

const override = (...flags: string[]) => ({ flags: ['--routing-key-override', ...flags] });

export const failover: readonly Scenario[] = [
  {
    title: 'sticky-sessions 3.7: trace under delegate',
    stand: override('--policy', 'round_robin'),
    steps: trace({ rid: 'trace_t1' }),
  },
  {
    title: 'sticky-sessions 3.7: trace under min_load',
    stand: override('--policy', 'round_robin', '--assignment-mode', 'min_load'),
    steps: trace({ rid: 'trace_t1' }),
  },
  {
    title: 'sticky-sessions 3.7: trace under manual',
    stand: { flags: ['--policy', 'manual'] },
    steps: trace({ key: 'trace' }),
  },
  {
    title: 'sticky-sessions 3.7: the cap places again, and the pin follows a better place',
    stand: override('--policy', 'round_robin'),
    steps: [
      hold('first', { rid: 'cap_t1' }),
      hold('second', { rid: 'cap_t2' }),
      gauges,
      hold('third', { rid: 'cap_t3' }),
      send({ rid: 'cap_t4' }),
      gauges,
      ...release('first', 'second', 'third'),
      gauges,
      send({ rid: 'cap_t5' }),
      send(),
      send(),
      send({ rid: 'cap_t6' }),
    ],
  },
  {
    title: 'sticky-sessions 3.7: load of other keys never places again',
    stand: override('--policy', 'round_robin'),
    steps: [
      send({ rid: 'busy_t1' }),
      hold('one', { rid: 'x1' }),
      hold('two', { rid: 'x2' }),
      hold('three', { rid: 'x3' }),
      hold('four', { rid: 'x4' }),
      hold('five', { rid: 'x5' }),
      hold('six', { rid: 'x6' }),
      gauges,
      send({ rid: 'busy_t2' }),
      ...release('one', 'two', 'three', 'four', 'five', 'six'),
    ],
  },
  {
    title: 'policies 1.2: a rotation for each set of workers',
    stand: { flags: ['--policy', 'round_robin'] },
    steps: [send(), send(), healthy(0, 2), send(), send(), healthy(0, 1, 2), send(), send(), healthy(0, 2), send()],
  },
  {
    title: 'policies 1.3: passthrough goes to the first that is available',
    stand: { flags: ['--policy', 'passthrough'] },
    steps: [send(), send(), healthy(1, 2), send(), healthy(0, 1, 2), send()],
  },
  {
    title: 'sticky-sessions 7.2: nobody is available',
    stand: { flags: ['--policy', 'round_robin', '--disable-retries', '--routing-key-override'] },
    steps: [healthy(), send(), send({ rid: 'nobody' }), healthy(0, 1, 2), send({ rid: 'nobody' })],
  },
  {
    title: 'sticky-sessions 7.2: nobody is available under manual',
    stand: { flags: ['--policy', 'manual', '--disable-retries'] },
    choice: 'stays',
    steps: [healthy(), send({ key: 'k' }), healthy(0, 1, 2), send({ key: 'k' })],
  },
  {
    title: 'policies 1.8: a worker out moves only its own keys',
    stand: { flags: ['--policy', 'consistent_hashing'], engines: { count: 5 } },
    steps: [
      ...keys.map((key) => send({ key })),
      healthy(0, 1, 3, 4),
      ...keys.map((key) => send({ key })),
      healthy(0, 1, 2, 3, 4),
      ...keys.map((key) => send({ key })),
    ],
  },
];
