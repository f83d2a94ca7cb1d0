import { fail, type Scenario, send } from '../scenario.ts';

const retrying = { flags: ['--policy', 'round_robin', '--disable-circuit-breaker'] };
const pinned = { flags: ['--policy', 'round_robin', '--disable-circuit-breaker', '--routing-key-override'] };
const never = { flags: ['--policy', 'round_robin', '--disable-circuit-breaker', '--disable-retries'] };
const RETRIED = [408, 429, 500, 502, 503, 504];
const RELAYED = [400, 401, 404, 422, 501];

export const retries: readonly Scenario[] = [
  ...RETRIED.map((status) => ({
    title: `smg-observed 3: ${status} of one worker`,
    stand: retrying,
    steps: [fail(status, 0), send(), fail(null, 0)],
  })),
  ...RETRIED.map((status) => ({
    title: `smg-observed 3: ${status} of every worker`,
    stand: retrying,
    choice: 'free' as const,
    steps: [fail(status, 0, 1, 2), send()],
  })),
  {
    title: 'smg-observed 3: answers that are relayed as they are',
    stand: retrying,
    steps: RELAYED.flatMap((status) => [fail(status, 0, 1, 2), send()]),
  },
  {
    title: 'smg-observed 3: no retries where they are turned off',
    stand: never,
    choice: 'free',
    steps: RETRIED.flatMap((status) => [fail(status, 0, 1, 2), send()]),
  },
  {
    title: 'sticky-sessions 3.12: the pinned worker fails',
    stand: pinned,
    steps: [send({ rid: 'p_t1' }), fail(503, 0), send({ rid: 'p_t2' }), fail(null, 0), send({ rid: 'p_t3' })],
  },
  {
    title: 'sticky-sessions 3.12: the pinned worker fails without retries',
    stand: { flags: [...never.flags, '--routing-key-override'] },
    steps: [send({ rid: 'p_t1' }), fail(500, 0), send({ rid: 'p_t2' }), fail(null, 0), send({ rid: 'p_t3' })],
  },
];
