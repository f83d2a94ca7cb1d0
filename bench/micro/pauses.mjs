/**
 * The longest time for which the process serves nobody while something large changes: the longest turn of the event loop,
 * garbage collection included. Work that the service spreads over turns is spread here by the same calls.
 */
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rounded } from '../lib/stats.mjs';
import { flat, letters, NODES_OF_A_TURN, randomFrom, tokensFrom, turnOf } from './conversations.mjs';
import { collectGarbage } from './measure.mjs';
import { createWorld, headersMessage, headOf } from './world.mjs';

const NODES = 1_000_000;
/** Prompts that make so many nodes. */
const promptsFor = (kind) => Math.round(NODES / NODES_OF_A_TURN[kind]);
const TEXTS = promptsFor('text');
const PINS = 1_000_000;
const HEADS = 1_000_000;
const WORKERS = 8;
const LONG_PROMPTS = 20;
const LONG_CHARS = 1 << 20;
/** So that all of it has passed. */
const LATER = 1e9;

const HEAD = headOf(headersMessage({}));
const TREE = { SMG_POLICY: 'cache_aware' };
const NO_CAP = { ...TREE, SMG_MAX_TREE_SIZE: '1000000000' };
const HASH = { ...TREE, SMG_CACHE_INDEX: 'hash', SMG_CACHE_BOUNDARIES: '64', SMG_MAX_TREE_SIZE: '1000000000' };

export async function measurePauses() {
  const rows = [];
  for (const scenario of [
    () => workerLeaves('a worker leaves that holds all of a text tree', 'text', flat),
    () => workerLeaves('a worker leaves that holds all of a token tree', 'tokens', tokensFrom),
    treeReplaced,
    longPrompts,
    headsExpire,
    pinsExpire,
  ]) {
    rows.push(await scenario());
    collectGarbage();
  }
  return rows;
}

/** What half of the prompts are held by others, too. */
async function workerLeaves(what, kind, keyOf) {
  const world = createWorld(WORKERS, NO_CAP);
  const tree = treesOf(world)[kind];
  const [leaving, ...others] = idsOf(world);
  const prompts = promptsFor(kind);
  for (let i = 0; i < prompts; i++) {
    const { chat, text } = turnOf(i);
    const key = keyOf(text);
    tree.insert(key, null, leaving);
    if (chat % 2 === 0) tree.insert(key, null, others[chat % others.length]);
  }
  const count = tree.tree.nodeCount;
  const { memory } = world.policies.standard;
  const row = await watched((turn) => {
    if (turn > 0) return memory.tend(turn);
    world.registry.remove(leaving);
    world.policies.follow(world.registry.current);
    return true;
  });
  return { what, count, unit: 'nodes', ...row };
}

/** A tree at its cap takes in as many prompts again, one a turn. */
async function treeReplaced() {
  const { world, tree } = fullTree();
  const count = tree.tree.nodeCount;
  const ids = idsOf(world);
  const row = await watched((turn) => {
    const { chat, text } = turnOf(TEXTS + turn);
    tree.insert(flat(text), null, ids[chat % ids.length]);
    return turn < TEXTS;
  });
  return { what: 'a full text tree is filled anew, prompt by prompt', count, unit: 'nodes', ...row };
}

/** Each makes room for itself among many small nodes. */
async function longPrompts() {
  const { world, tree } = fullTree();
  const before = tree.tree.nodeCount;
  const [first] = idsOf(world);
  const random = randomFrom(1);
  const prompts = Array.from({ length: LONG_PROMPTS }, () => letters(random, LONG_CHARS));
  const row = await watched((turn) => {
    tree.insert(prompts[turn], null, first);
    return turn + 1 < LONG_PROMPTS;
  });
  const count = Math.round((before - tree.tree.nodeCount) / LONG_PROMPTS);
  return { what: 'a prompt of 1 MB comes to a full text tree', count, unit: 'nodes', ...row };
}

async function headsExpire() {
  const world = createWorld(WORKERS, HASH);
  const placement = placementOf(world);
  const index = world.policies.standard.memory.of(placement, placement.pool.members[0]);
  const ids = idsOf(world);
  for (let i = 0; i < HEADS; i++) index.record(`64::${i.toString(16).padStart(16, '0')}`, ids[i % ids.length], 0);
  const { memory } = world.policies.standard;
  const row = await watched(() => memory.tend(LATER));
  return { what: 'all of the hash index expires', count: HEADS, unit: 'heads', ...row };
}

async function pinsExpire() {
  const world = createWorld(WORKERS, { SMG_POLICY: 'manual' });
  const ids = idsOf(world);
  for (let i = 0; i < PINS; i++) world.pins.put(`conversation-${i.toString(36)}`, [ids[i % ids.length]], 0, i / 1000);
  const row = await watched(() => world.pins.sweep(LATER, 1) > 0);
  return { what: 'all pins expire', count: PINS, unit: 'pins', ...row };
}

/** A text tree with as many nodes as it has room for. */
function fullTree() {
  const chars = measureChars();
  const world = createWorld(WORKERS, { ...TREE, SMG_MAX_TREE_SIZE: String(chars) });
  const tree = treesOf(world).text;
  fill(tree, idsOf(world));
  return { world, tree };
}

/** Characters that the prompts take: a tree of them, made once. */
let known = 0;
function measureChars() {
  if (known > 0) return known;
  const world = createWorld(WORKERS, NO_CAP);
  const tree = treesOf(world).text;
  fill(tree, idsOf(world));
  known = tree.size;
  return known;
}

function fill(tree, ids) {
  for (let i = 0; i < TEXTS; i++) {
    const { chat, text } = turnOf(i);
    tree.insert(flat(text), null, ids[chat % ids.length]);
  }
}

function placementOf({ registry }) {
  const pool = registry.current.pool('bench');
  return { pool, now: 0, request: { head: HEAD, model: 'bench' } };
}

function treesOf(world) {
  const placement = placementOf(world);
  return world.policies.standard.memory.of(placement, placement.pool.members[0]);
}

function idsOf({ registry }) {
  return registry.current.workers.map(({ id }) => id);
}

/** Does one step a turn until it answers false. */
async function watched(step) {
  collectGarbage();
  const collections = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  await nextTurn();
  const start = performance.now();
  let longest = 0;
  let turns = 0;
  let at = start;
  for (let more = true; more; ) {
    more = step(turns++);
    await nextTurn();
    const now = performance.now();
    longest = Math.max(longest, now - at);
    at = now;
  }
  const took = at - start;
  await nextTurn();
  observer.disconnect();
  return {
    turns,
    tookMs: rounded(took),
    longestMs: rounded(longest),
    longestCollectionMs: rounded(Math.max(0, ...collections.map(({ duration }) => duration))),
  };
}
