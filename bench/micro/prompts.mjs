/**
 * Whole decisions of cache_aware on prompts that share their beginnings: reading the body, the tree or index, the answer.
 * One decision at a time, for the tail: the middle, the 99th of 100, and the longest.
 */
import { quantile, rounded } from '../lib/stats.mjs';
import { chatOf, generateOf, ids, letters, PREFIXES, randomFrom } from './conversations.mjs';
import { collectGarbage } from './measure.mjs';
import { createWorld, FACTS, headersMessage, headOf } from './world.mjs';

/** Decisions by size of the prompt: the long ones take long to make. */
const SIZES = [
  ['300 B', 300, 5000],
  ['2 KB', 2048, 5000],
  ['32 KB', 32 << 10, 5000],
  ['220 KB', 220 << 10, 1000],
  ['1 MB', 1 << 20, 400],
];
const WORKERS = [8, 1000];
/** Share of a prompt that is its own turn's. */
const OWN_SHARE = 8;
/** Decisions before those that count, a share of all: the first of each prefix, and those until the code is compiled. */
const WARM_UP = 0.25;

const CHAT = headOf(headersMessage({}));
const GENERATE = headOf(headersMessage({ ':path': '/generate' }));
const HASH = { SMG_CACHE_INDEX: 'hash', SMG_CACHE_BOUNDARIES: '64,512,4096' };
const KINDS = [
  { kind: 'text tree', head: CHAT, promptOf: chatPrompt, env: {} },
  { kind: 'token tree', head: GENERATE, promptOf: tokenPrompt, env: {} },
  { kind: 'hash index', head: GENERATE, promptOf: tokenPrompt, env: HASH },
];

export function measurePrompts() {
  return KINDS.flatMap((kind) =>
    SIZES.flatMap(([size, bytes, count]) => WORKERS.map((workers) => measureKind(kind, size, bytes, count, workers))),
  );
}

function measureKind({ kind, head, promptOf, env }, size, bytes, count, workers) {
  const world = createWorld(workers, { ...env, SMG_POLICY: 'cache_aware' });
  const took = [];
  const random = randomFrom(1);
  collectGarbage();
  for (let i = 0; i < count; i++) {
    const body = promptOf(bytes, i % Math.min(PREFIXES, count / 10), random);
    const start = performance.now();
    world.picker.plan(head);
    world.pick(head, { bytes: body, complete: true }, FACTS);
    took.push((performance.now() - start) * 1000);
    if (took.length % 500 === 0) world.endAll();
  }
  const sorted = took.slice(count * WARM_UP).sort((a, b) => a - b);
  return {
    kind,
    size,
    workers,
    micros: rounded(quantile(sorted, 0.5)),
    p99: rounded(quantile(sorted, 0.99)),
    longest: rounded(sorted.at(-1)),
  };
}

/** Beginnings by size, made once. */
const beginnings = new Map();

function beginning(kind, bytes, prefix, make) {
  const key = `${kind} ${bytes} ${prefix}`;
  let known = beginnings.get(key);
  if (known === undefined) {
    known = make(randomFrom(1000 + prefix));
    beginnings.set(key, known);
  }
  return known;
}

function chatPrompt(bytes, prefix, random) {
  const own = Math.floor(bytes / OWN_SHARE);
  const shared = beginning('chat', bytes, prefix, (from) => letters(from, bytes - own));
  return chatOf(`${shared}${letters(random, own)}`);
}

function tokenPrompt(bytes, prefix, random) {
  const count = Math.floor(bytes / 6);
  const own = Math.floor(count / OWN_SHARE);
  const shared = beginning('tokens', bytes, prefix, (from) => ids(from, count - own));
  return generateOf([...shared, ...ids(random, own)]);
}
