import { loads, type Request, type Scenario, type Step, send, spread } from '../scenario.ts';

const stand = (...flags: string[]) => ({
  flags: ['--policy', 'cache_aware', '--load-monitor-interval', '1', ...flags],
  engines: { count: 2, loads: true },
});
const prose = (tag: string, words = 60): string => Array.from({ length: words }, (_, n) => `${tag}${n}`).join(' ');
const ids = (first: number, count: number): string => Array.from({ length: count }, (_, id) => first + id).join(',');
const grins = (count: number): string => '\u{1f600}'.repeat(count);
const ask = (...requests: Request[]): readonly Step[] => requests.map((request) => send(request));
const usage = (first: number, second: number): Step => loads({ usage: first }, { usage: second });

/** Where a prompt goes that nobody holds. */
const FIRST = loads({}, { tokens: 100_000 });
const SECOND = loads({ tokens: 100_000 }, {});

/** Under the one flag both hold the prompt afterwards. */
const MAY_BE_FULL = ['--overload-token-usage-threshold', '0.95'];
const HELD_BY_BOTH = [FIRST, ...ask({ text: prose('d') }), usage(0.99, 0), ...ask({ text: prose('d') })];

export const cacheLoad: readonly Scenario[] = [
  {
    title: 'policies 1.6.2: the only holder of a prefix is credited too',
    stand: stand(),
    steps: [loads({}, { tokens: 1 }), ...ask(...['p', 'q', 'p', 'r', 's'].map((tag) => ({ text: prose(tag) })))],
  },
  {
    title: 'policies 1.6.3: caches that are too full',
    stand: stand('--overload-token-usage-threshold', '0.9'),
    steps: [
      FIRST,
      ...ask({ text: prose('a') }),
      usage(0.89, 0),
      ...ask({ text: prose('a') }),
      usage(0.9, 0),
      ...ask({ text: prose('a') }),
      usage(0.95, 0),
      ...ask({ text: prose('b') }),
      FIRST,
      ...ask({ text: prose('b') }),
    ],
  },
  {
    title: 'policies 1.6.3: caches that are unevenly full',
    stand: stand('--balance-token-usage-threshold', '0.3'),
    steps: [
      FIRST,
      ...ask({ text: prose('a') }),
      usage(0.5, 0.2),
      ...ask({ text: prose('a') }),
      usage(0.6, 0.2),
      ...ask({ text: prose('a') }),
      usage(0.9, 0.88),
      ...ask({ text: prose('c') }),
      SECOND,
      ...ask({ text: prose('c') }),
    ],
  },
  ...[[], ['--overlap-decay', '1']].map(
    (decay): Scenario => ({
      title: `policies 1.6.4: two holders, one with a backlog ${decay.join(' ')}`,
      stand: stand(...MAY_BE_FULL, ...decay),
      steps: [
        ...HELD_BY_BOTH,
        loads({ tokens: 320, throughput: 10_000 }, { usage: 0.9 }),
        ...ask({ text: prose('d') }, { text: prose('d') }),
      ],
    }),
  ),
  {
    title: 'policies 1.6.4: temperature',
    stand: stand(...MAY_BE_FULL, '--overlap-decay', '0.5', '--selection-temperature', '0.5'),
    steps: [
      ...HELD_BY_BOTH,
      loads({ tokens: 640, throughput: 10_000 }, { usage: 0.9 }),
      spread(90, () => ({ text: prose('d'), choice: 'free' })),
    ],
  },
  {
    title: 'policies 1.6.6: whole pages of ids against all of them',
    stand: stand('--block-size', '4', '--cache-threshold', '0.5'),
    steps: [
      FIRST,
      ...ask({ hint: ids(1, 8) }),
      SECOND,
      ...ask({ hint: `${ids(1, 4)},${ids(90, 4)}` }, ...[9, 15, 16, 3, 4, 7].map((count) => ({ hint: ids(1, count) }))),
      FIRST,
      ...ask({ hint: ids(1, 3) }, { hint: ids(1, 16) }),
    ],
  },
  {
    title: 'policies 1.6.5: characters, not halves of them',
    stand: stand('--cache-threshold', '0.5'),
    steps: [
      FIRST,
      ...ask({ text: grins(10) }),
      SECOND,
      ...ask({ text: grins(5) + '\u{1f601}'.repeat(5) }),
      FIRST,
      ...ask({ text: grins(5) + '\u{1f601}'.repeat(4) }, { text: grins(6) + '\u{1f602}'.repeat(5) }),
      SECOND,
      ...ask({ text: `${grins(6)}xxxxx` }, { text: grins(1) }, { text: '\u{1f602}' }),
    ],
  },
  {
    title: 'policies 1.6.9: no prompt reaches into a namespace',
    stand: stand(),
    steps: [
      FIRST,
      ...ask({ text: prose('n') }),
      SECOND,
      ...ask({ text: `\u0001${prose('n')}` }, { text: prose('n'), members: { cache_salt: 's' } }),
      FIRST,
      ...ask(
        { text: prose('n'), members: { cache_salt: 's' } },
        { text: prose('n'), members: { cache_salt: 's', extra_key: '' } },
        { text: prose('n'), members: { extra_key: 's' } },
        { hint: ids(4_000_000_000, 32) },
      ),
      SECOND,
      ...ask({ text: '\u0001' }, { hint: ids(4_000_000_000, 32) }, { hint: `4000000000,${ids(1, 32)}` }),
      FIRST,
      ...ask({ hint: ids(1, 32) }, { hint: `4000000000,${ids(1, 32)}` }),
    ],
  },
  {
    title: 'policies 1.6.7: the hash index by load',
    stand: stand('--cache-index', 'hash', '--cache-boundaries', '4,8', '--overload-token-usage-threshold', '0.9'),
    steps: [
      FIRST,
      ...ask({ hint: ids(1, 10) }),
      SECOND,
      ...ask(
        { hint: ids(1, 8) },
        { hint: `${ids(1, 4)},${ids(70, 4)}` },
        { hint: ids(1, 3) },
        { text: prose('x') },
        { hint: `${ids(1, 4)},7` },
      ),
      usage(0.95, 0),
      ...ask({ hint: ids(1, 8) }),
      loads({ tokens: 10 }, {}),
      ...ask({ hint: ids(1, 8) }),
    ],
  },
  {
    title: 'policies 1.6.9: a token hint beside a cache salt',
    stand: stand('--block-size', '4'),
    steps: [
      FIRST,
      ...ask({ hint: ids(1, 8) }),
      SECOND,
      ...ask({ hint: ids(1, 8) }, { hint: ids(1, 8), members: { cache_salt: 's' } }),
    ],
  },
];
