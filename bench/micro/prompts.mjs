/**
 * Whole decisions of cache_aware on prompts that share their beginnings: reading the body, the tree or index, the answer.
 * One decision at a time, for the tail: the middle, the 99th of 100, and the longest.
 */
import { quantile, rounded } from '../lib/stats.mjs';
import { createWorld, FACTS, headersMessage, headOf } from './world.mjs';

const PREFIXES = 100;
const TURNS = 50;
/** Decisions that are not counted: the first of each prefix, and those until the code is compiled. */
const WARM_UP = 1000;
const WORKERS = [8, 1000];
const SIZES = { '1 KB': 1024, '32 KB': 32 * 1024, '220 KB': 220 * 1024 };
/** Share of a prompt that is its own turn's. */
const OWN_SHARE = 8;

const CHAT = headOf(headersMessage({}));
const GENERATE = headOf(headersMessage({ ':path': '/generate' }));
const KINDS = [
  ['text tree', CHAT, chatPrompt, {}],
  ['token tree', GENERATE, tokenPrompt, {}],
  ['hash index', GENERATE, tokenPrompt, { SMG_CACHE_INDEX: 'hash', SMG_CACHE_BOUNDARIES: '64,512,4096' }],
];

export function measurePrompts() {
  return KINDS.flatMap(([kind, head, promptOf, env]) =>
    Object.entries(SIZES).flatMap(([size, bytes]) =>
      WORKERS.map((workers) => measureKind(kind, size, bytes, workers, head, promptOf, env)),
    ),
  );
}

function measureKind(kind, size, bytes, workers, head, promptOf, env) {
  const world = createWorld(workers, { ...env, SMG_POLICY: 'cache_aware' });
  const took = [];
  const decide = (body) => {
    const start = performance.now();
    world.picker.plan(head);
    world.pick(head, { bytes: body, complete: true }, FACTS);
    took.push((performance.now() - start) * 1000);
    if (took.length % 500 === 0) world.endAll();
  };
  const random = randomFrom(1);
  for (let turn = 0; turn < TURNS; turn++) {
    for (let prefix = 0; prefix < PREFIXES; prefix++) decide(promptOf(bytes, prefix, turn, random));
  }
  world.endAll();
  const sorted = took.slice(WARM_UP).sort((a, b) => a - b);
  return {
    kind,
    size,
    workers,
    micros: rounded(quantile(sorted, 0.5)),
    p99: rounded(quantile(sorted, 0.99)),
    longest: rounded(sorted.at(-1)),
  };
}

const LETTERS = 'etaoin shrdlu cmfwyp vbgkjqxz "\n';

function letters(random, count) {
  let text = '';
  for (let i = 0; i < count; i++) text += LETTERS[random(LETTERS.length)];
  return text;
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

function chatPrompt(bytes, prefix, turn, random) {
  const own = Math.floor(bytes / OWN_SHARE);
  const system = beginning('chat', bytes, prefix, (from) => letters(from, bytes - own - 100));
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: `${turn} ${letters(random, own)}` },
  ];
  return Buffer.from(JSON.stringify({ model: 'bench', stream: false, messages }));
}

function tokenPrompt(bytes, prefix, turn, random) {
  const count = Math.floor(bytes / 6);
  const own = Math.floor(count / OWN_SHARE);
  const ids = (from, length) => Array.from({ length }, () => 10_000 + from(89_999));
  const shared = beginning('tokens', bytes, prefix, (from) => ids(from, count - own));
  return Buffer.from(JSON.stringify({ model: 'bench', input_ids: [...shared, turn, ...ids(random, own)] }));
}

/** Whole numbers below a bound, the same for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
