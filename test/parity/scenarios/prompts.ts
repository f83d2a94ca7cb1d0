import { NO_TOKEN_HINTS } from '../../support/token-hints.ts';
import { hold, type Request, release, type Scenario, type Step, send } from '../scenario.ts';

const cacheAware = (...flags: string[]) => ({ flags: ['--policy', 'cache_aware', ...flags], engines: { count: 4 } });
const prefixHash = (...flags: string[]) => ({ flags: ['--policy', 'prefix_hash', ...flags], engines: { count: 6 } });
const prose = (tag: string, words = 60): string => Array.from({ length: words }, (_, n) => `${tag}${n}`).join(' ');
const ids = (first: number, count = 64): string => Array.from({ length: count }, (_, id) => first + id).join(',');
const numbers = (first: number, count = 64): readonly number[] => Array.from({ length: count }, (_, id) => first + id);

/** sticky-sessions 1.5. */
const HINTS = [
  '1,2,3',
  '42',
  '0,4294967295',
  '007',
  Array(512).fill('7').join(','),
  Array(513).fill('7').join(','),
  Array(512).fill('123456789').join(','),
  ...NO_TOKEN_HINTS,
  '\xff\xfe',
];

/** policies 6.2, told by where prefix_hash places them: text and tokens of each endpoint. */
const BODIES: readonly Request[] = [
  ...[
    [
      { role: 'system', content: 'A' },
      { role: 'user', content: 'between' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'B' },
          { type: 'text', text: 'C' },
        ],
      },
    ],
    [{ role: 'assistant', content: null, reasoning_content: 'R' }],
    [
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'naïve ☃ 😀' },
    ],
    [{ role: 'user', name: 'nobody', content: 'escaped \n " \\ \u00e9' }],
  ].map((messages) => ({ members: { messages } })),
  { path: '/v1/completions', members: { prompt: ['a', 'b'] } },
  { path: '/v1/completions', members: { prompt: 'a b' } },
  { path: '/generate', members: { text: undefined, input_ids: [1, 2, 3] } },
  { path: '/generate', members: { text: 'hi', input_ids: [5] } },
  { path: '/generate', members: { text: 'hi', input_ids: [] } },
  { path: '/generate', members: { text: undefined, input_ids: [[1, 2], [3]] } },
  { path: '/v1/responses', members: { input: 'x', instructions: 'y' } },
  {
    path: '/v1/responses',
    members: {
      input: [
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
      ],
    },
  },
  {
    path: '/v1/messages',
    members: { system: 'S', messages: [{ role: 'user', content: [{ type: 'text', text: 'u' }] }] },
  },
  { path: '/v1/messages', members: { messages: [{ role: 'user', content: 'u' }] } },
  { path: '/v1/embeddings', members: { input: ['a', 'b'] } },
  { path: '/v1/embeddings', members: { input: 'a b' } },
  { path: '/rerank', text: 'q' },
];

const placed = (...requests: Request[]): readonly Step[] => requests.map((request) => send(request));

export const prompts: readonly Scenario[] = [
  {
    title: 'sticky-sessions 1.5: grammar of the token hint, by where prefix_hash places it',
    stand: prefixHash(),
    steps: HINTS.flatMap((hint) => [send({ hint, text: 'said' }), send({ hint, text: 'otherwise said' })]),
  },
  {
    title: 'policies 6.2: text and tokens of a request, by where prefix_hash places it',
    stand: prefixHash(),
    steps: placed(...BODIES),
  },
  {
    title: 'policies 1.7: placement by key, tokens and text',
    stand: prefixHash(),
    steps: placed(
      { text: 'Hello, world!' },
      { hint: ids(0, 256) },
      { hint: ids(0, 300) },
      { key: 'user-1', hint: ids(5) },
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((tag) => ({ text: prose(tag, 300) })),
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((tag) => ({ text: `${prose(tag, 300)} and more` })),
      ...['a', 'b', 'c'].map((tag) => ({ text: tag })),
    ),
  },
  {
    title: 'policies 1.7: boundaries',
    stand: prefixHash('--cache-boundaries', '16,64'),
    steps: placed(
      ...[70, 63, 16, 15].flatMap((count) => [{ hint: ids(7, count) }, { hint: ids(900, count) }]),
      ...[10, 20, 80].flatMap((words) => ['p', 'q'].map((tag) => ({ text: prose(tag, words) }))),
    ),
  },
  {
    title: 'policies 1.7: a target with too much in flight is passed by',
    stand: prefixHash('--prefix-hash-balance-abs-threshold', '1', '--prefix-hash-load-factor', '1.0'),
    steps: [
      hold('w1', { text: 'one prefix' }),
      hold('w2', { text: 'one prefix' }),
      hold('w3', { text: 'one prefix' }),
      hold('w4', { text: 'one prefix' }),
      send({ text: 'one prefix' }),
      ...release('w1', 'w2', 'w3', 'w4'),
      send({ text: 'one prefix' }),
    ],
  },
  {
    title: 'policies 1.6.5: a prompt stays where its prefix is',
    stand: cacheAware(),
    choice: 'stays',
    steps: ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((tag) =>
      placed(
        { text: prose(tag), group: tag },
        { text: prose(tag), group: tag },
        { text: `${prose(tag)} and a further turn`, group: tag },
        { text: prose(tag).slice(0, 100), group: tag },
      ),
    ),
  },
  {
    title: 'policies 1.6.1: the threshold is strict',
    stand: cacheAware('--cache-threshold', '0.5'),
    choice: 'free',
    steps: placed(
      { text: 'x'.repeat(50) },
      { text: 'x'.repeat(50) + 'y'.repeat(50) },
      { text: 'x'.repeat(50) + 'z'.repeat(49), group: 'z' },
    ),
  },
  {
    title: 'policies 1.6.6: token ids and text are apart',
    stand: cacheAware(),
    choice: 'stays',
    steps: [1, 2, 3].flatMap((n) =>
      placed(
        { hint: ids(10_000 * n), text: prose(`n${n}`), group: `ids ${n}` },
        { hint: `${ids(10_000 * n)},1,2,3`, text: 'other', group: `ids ${n}` },
        { path: '/generate', members: { text: undefined, input_ids: numbers(10_000 * n, 80) }, group: `ids ${n}` },
      ),
    ),
  },
  {
    title: 'policies 1.6.9: cache namespaces',
    stand: cacheAware(),
    choice: 'free',
    steps: placed(
      { text: prose('ns'), members: { cache_salt: 'one' } },
      { text: prose('ns'), members: { cache_salt: 'one' } },
      { text: prose('ns'), members: { cache_salt: 'two' } },
      { text: prose('ns') },
      { text: prose('ns'), members: { cache_salt: '' } },
      { text: prose('ns'), members: { extra_key: 'e' } },
      { text: prose('ns'), members: { lora_path: 'l' } },
      { text: prose('ns'), members: { lora_path: 'l' } },
    ),
  },
  {
    title: 'policies 1.6.4: a holder with too much in flight spills',
    stand: {
      flags: ['--policy', 'cache_aware', '--balance-abs-threshold', '1', '--balance-rel-threshold', '1.1'],
      engines: { count: 2 },
    },
    choice: 'stays',
    steps: [
      ...[1, 2, 3].map((n) => hold(`h${n}`, { text: prose('hot'), group: 'hot' })),
      send({ text: prose('hot'), group: 'hot' }),
      ...release('h1', 'h2', 'h3'),
    ],
  },
  {
    title: 'policies 1.6.7: the hash index',
    stand: cacheAware('--cache-index', 'hash', '--cache-boundaries', '16,64'),
    choice: 'stays',
    steps: [1, 2, 3].flatMap((n) =>
      placed(
        { hint: ids(10_000 * n, 70), group: `h${n}` },
        { hint: `${ids(10_000 * n, 64)},1,2,3`, group: `h${n}` },
        { hint: `${ids(10_000 * n, 16)},7,7`, group: `h${n}` },
        { hint: ids(10_000 * n, 12), choice: 'free' },
      ),
    ),
  },
  {
    title: 'sticky-sessions 5: a new key goes where its prompt is, a pinned one stays',
    stand: cacheAware('--routing-key-override'),
    choice: 'stays',
    steps: ['r', 's', 't'].flatMap((tag) =>
      placed(
        { text: prose(tag), group: tag },
        { text: `${prose(tag)} asked`, rid: `${tag}_t1`, group: tag },
        { text: 'nothing alike, in other words', rid: `${tag}_t2`, group: tag },
        { hint: ids(5), rid: `${tag}_t3`, group: tag },
      ),
    ),
  },
];
