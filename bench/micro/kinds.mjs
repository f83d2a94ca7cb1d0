/**
 * What is placed by which policy: prompts that share their beginnings, keys of conversations, or nothing to go by; and the
 * fleet that it meets, at work.
 */
import { chatOf, generateOf, PROMPTS, textOf, tokensOf } from './conversations.mjs';
import { createWorld, headersMessage, headOf } from './world.mjs';

/** Pins in the store, the requests' own among them. */
export const PINS = 100_000;
export const WORKERS = [3, 30, 100, 300, 1000];

const OVERRIDE = { SMG_POLICY: 'round_robin', SMG_ROUTING_KEY_OVERRIDE: 'true', SMG_ROUTING_KEY_ORDER: 'header-first' };
const HASH = { SMG_POLICY: 'cache_aware', SMG_CACHE_INDEX: 'hash', SMG_CACHE_BOUNDARIES: '64,256,512' };

/** `by`: what the requests bring. `silent`: no engine reports its load. */
export const KINDS = [
  { name: 'random', env: { SMG_POLICY: 'random' }, by: 'nothing' },
  { name: 'round_robin', env: { SMG_POLICY: 'round_robin' }, by: 'nothing' },
  { name: 'passthrough', env: { SMG_POLICY: 'passthrough' }, by: 'nothing' },
  { name: 'power_of_two', env: { SMG_POLICY: 'power_of_two' }, by: 'nothing' },
  { name: 'least_load', env: { SMG_POLICY: 'least_load' }, by: 'nothing' },
  { name: 'least_load, nobody reports', env: { SMG_POLICY: 'least_load' }, by: 'nothing', silent: true },
  { name: 'cache_aware, text', env: { SMG_POLICY: 'cache_aware' }, by: 'text' },
  { name: 'cache_aware, token ids', env: { SMG_POLICY: 'cache_aware' }, by: 'tokens' },
  { name: 'cache_aware, hash index', env: HASH, by: 'tokens' },
  { name: 'prefix_hash, text', env: { SMG_POLICY: 'prefix_hash' }, by: 'text' },
  { name: 'prefix_hash, token ids', env: { SMG_POLICY: 'prefix_hash' }, by: 'tokens' },
  { name: 'bucket', env: { SMG_POLICY: 'bucket' }, by: 'text' },
  { name: 'consistent_hashing', env: { SMG_POLICY: 'consistent_hashing' }, by: 'key' },
  { name: 'manual, known pin', env: { SMG_POLICY: 'manual' }, by: 'key' },
  { name: 'override over round_robin, known pin', env: OVERRIDE, by: 'key' },
];

/** Requests in flight on each worker, and what its engine reports: no two are alike. */
const MOST_IN_FLIGHT = 5;

/** A world of that kind with pins, requests in flight, and load reports. */
export function busyWorld({ env, silent = false }, workers) {
  const world = createWorld(workers, env);
  const { registry, ledger, pins } = world;
  const { workers: all } = registry.current;
  for (const [i, { engine }] of [...registry.instances].entries()) if (!silent) engine.received(reportOf(i));
  for (const [i, worker] of all.entries()) {
    for (let k = 0; k < i % MOST_IN_FLIGHT; k++) ledger.open(inFlight(worker, `${i}-${k}`));
  }
  const others = PINS - PROMPTS;
  for (let i = 0; i < others; i++) pins.put(`5:bench:s:another-${i}`, [all[i % all.length].id], 0, i);
  return world;
}

/** Heads and bodies of the requests, as a picker gets them. */
export function requestsOf({ by }) {
  if (by === 'nothing') return [{ head: headOf(headersMessage({})), body: null }];
  return Array.from({ length: PROMPTS }, (_, i) => {
    if (by === 'key') return { head: headOf(headersMessage({ 'x-smg-routing-key': `conversation-${i}` })), body: null };
    return by === 'text' ? { head: CHAT, body: chatOf(textOf(i)) } : { head: GENERATE, body: generateOf(tokensOf(i)) };
  });
}

/** The same as a router gets them: read. */
export function readRequestsOf({ by }) {
  const prompt = { tokens: null, text: null, namespace: null };
  if (by === 'nothing' || by === 'key') {
    return requestsOf({ by }).map(({ head }) => ({
      head,
      model: 'bench',
      bodyKeys: null,
      prompt,
      streaming: 'unknown',
    }));
  }
  return Array.from({ length: PROMPTS }, (_, i) => {
    const own = by === 'text' ? { ...prompt, text: textOf(i) } : { ...prompt, tokens: tokensOf(i) };
    return { head: CHAT, model: 'bench', bodyKeys: null, prompt: own, streaming: 'unknown' };
  });
}

const CHAT = headOf(headersMessage({}));
const GENERATE = headOf(headersMessage({ ':path': '/generate' }));

function inFlight(worker, name) {
  return {
    pickId: `in-flight-${name}`,
    worker,
    loadKey: null,
    pinKey: null,
    model: 'bench',
    endpoint: 'chat',
    now: performance.now(),
    periodicLogMs: 3_600_000,
  };
}

function reportOf(i) {
  return {
    at: 0,
    ranks: [],
    runningRequests: 8,
    waitingRequests: i % 5,
    waitingUncachedTokens: (i * 37) % 4000,
    genThroughput: 1500 + (i % 90),
    tokenUsage: 0.3 + (i % 50) / 100,
  };
}
