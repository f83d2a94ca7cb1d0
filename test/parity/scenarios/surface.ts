import { type Scenario, send } from '../scenario.ts';

const override = { flags: ['--policy', 'round_robin', '--routing-key-override'] };
const plain = { flags: ['--policy', 'round_robin'] };
const two = {
  flags: ['--policy', 'round_robin', '--routing-key-override'],
  engines: { count: 4, models: [['a'], ['a'], ['b'], ['b']] },
};
const IDS = ['x-request-id', 'x-correlation-id', 'x-trace-id', 'request-id'];
const PATHS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/messages',
  '/generate',
  '/v1/embeddings',
  '/v1/classify',
  '/v1/responses',
  '/rerank',
  '/v1/rerank',
  '/v1/messages/count_tokens',
];

export const surface: readonly Scenario[] = [
  ...PATHS.map((path) => ({
    title: `sticky-sessions 2.1: rid on ${path}`,
    stand: override,
    steps: [send({ path, rid: `on${path}_t1` }), send(), send({ path, rid: `on${path}_t2` }), send({ path, rid: 7 })],
  })),
  {
    title: 'sticky-sessions 2.1: rid of a list on /rerank',
    stand: override,
    steps: [
      send({ path: '/rerank', rid: ['list_t1', 'b'] }),
      send(),
      send({ path: '/rerank', rid: ['list_t2'] }),
      send({ path: '/rerank', rid: [] }),
      send({ path: '/rerank', rid: ['', 'b'] }),
    ],
  },
  {
    title: 'sticky-sessions 2.1: only the member of the top level counts',
    stand: override,
    steps: [send({ members: { metadata: { rid: 'nested' } } }), send({ members: { metadata: { rid: 'nested' } } })],
  },
  {
    title: 'smg-observed 4: bodies that are no request',
    stand: override,
    steps: [
      send({ raw: '{' }),
      send({ raw: '[]' }),
      send({ raw: '7' }),
      send({ raw: 'null' }),
      send({ raw: '{"model":"m","messages":[{"role":"user","content":"x"}],"rid":"a","rid":"b"}' }),
      send({ raw: '{"model":"m","model":"m","messages":[{"role":"user","content":"x"}]}' }),
      send({ raw: '{"model":7,"messages":[{"role":"user","content":"x"}]}' }),
      send({ rid: {} }),
      send({ rid: ['a'] }),
      send({ rid: true }),
    ],
  },
  {
    title: 'smg-observed 4: a model that nobody serves, the body being read',
    stand: override,
    steps: [send({ model: 'nope' }), send({ model: 'nope', rid: 'r' })],
  },
  {
    title: 'smg-observed 4: an empty name of a model, an empty message',
    stand: override,
    steps: [send({ text: '' }), send({ model: '' })],
  },
  {
    title: 'decisions 18: a model that nobody serves, the body not being read',
    stand: plain,
    steps: [send({ model: 'nope' })],
  },
  {
    title: 'sticky-sessions 3.12: two models in one fleet',
    stand: two,
    steps: [
      ...['a', 'b', 'a', 'b', 'a', 'b'].map((model) => send({ model })),
      send({ model: 'a', rid: 'both_t1' }),
      send({ model: 'b', rid: 'both_t1' }),
      send({ model: 'a' }),
      send({ model: 'b' }),
      send({ model: 'a', rid: 'both_t2' }),
      send({ model: 'b', rid: 'both_t2' }),
      send({ model: 'c' }),
      send({ model: 'c', rid: 'both_t3' }),
    ],
  },
  {
    title: 'sticky-sessions 3.12: an alias and its model share pins and rotation',
    stand: {
      flags: ['--model-alias', 'nick=a', '--policy', 'round_robin', '--routing-key-override'],
      engines: { count: 4, models: [['a'], ['a'], ['b'], ['b']] },
    },
    steps: [
      send({ model: 'nick' }),
      send({ model: 'a' }),
      send({ model: 'nick', rid: 'alias_t1' }),
      send({ model: 'a' }),
      send({ model: 'a', rid: 'alias_t2' }),
      send({ model: 'b', rid: 'alias_t3' }),
    ],
  },
  {
    title: 'policies 2.4: workers that list two models',
    stand: {
      flags: ['--policy', 'round_robin'],
      engines: {
        count: 2,
        models: [
          ['a', 'b'],
          ['a', 'b'],
        ],
      },
    },
    steps: [send({ model: 'a' }), send({ model: 'b' })],
  },
  {
    title: 'sticky-sessions 1.7: request ids',
    stand: plain,
    steps: [
      ...IDS.map((name) => send({ headers: [name, `id-of-${name}`] })),
      send({ headers: ['x-correlation-id', 'second', 'x-request-id', 'first'] }),
      send({ headers: ['x-request-id', 'with blank'] }),
      send({ headers: ['x-request-id', '\xc3\xa9', 'x-trace-id', 'next'] }),
      send({ headers: ['x-request-id', 'i'.repeat(300)] }),
      ...PATHS.map((path) => send({ path, choice: 'free' })),
    ],
  },
];
