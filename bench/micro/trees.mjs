/**
 * The trees of prefixes by size: bytes of a node beside its text, time of a match and an insert of a prompt whose beginning
 * is known, longest single call while filling, evicting and forgetting.
 */
import { median, rounded } from '../lib/stats.mjs';
import { flat, NODES_OF_A_TURN, tokensFrom, turnOf } from './conversations.mjs';
import { heldBytes } from './measure.mjs';

const { StringTree } = await import('../../dist/routing/prefixes/string-tree.js');
const { TokenTree } = await import('../../dist/routing/prefixes/token-tree.js');

const NODES = [1000, 10_000, 100_000, 1_000_000];
const PROMPTS = { '300 B': 300, '2 KB': 2048, '32 KB': 32 << 10, '220 KB': 220 << 10, '1 MB': 1 << 20 };
const WORKERS = Array.from({ length: 8 }, (_, i) => `http://10.0.0.${i + 1}:8000`);
const ROUNDS = 101;
const PAGE = 16;

const KINDS = {
  text: {
    create: () => new StringTree(1e9),
    key: (text) => flat(text),
    nodesOfAKey: NODES_OF_A_TURN.text,
    unitBytes: 1,
  },
  'wide text': {
    create: () => new StringTree(1e9),
    key: (text) => flat(`${text.slice(0, 20)}\u{1F600}${text.slice(20)}`),
    nodesOfAKey: NODES_OF_A_TURN.text,
    // The engine keeps a run in one byte each where that can be, and the wide character is in few runs.
    unitBytes: 1,
  },
  tokens: {
    create: () => new TokenTree(1e9, PAGE),
    key: tokensFrom,
    nodesOfAKey: NODES_OF_A_TURN.tokens,
    unitBytes: 4,
  },
};

export function measureTrees() {
  for (const kind of Object.values(KINDS)) {
    const tree = kind.create();
    fill(kind, tree, 5000);
    turns(kind, tree, 2048);
  }
  return Object.entries(KINDS).flatMap(([name, kind]) => NODES.map((nodes) => measureTree(name, kind, nodes)));
}

function measureTree(name, kind, nodes) {
  const empty = heldBytes();
  const tree = kind.create();
  const filled = fill(kind, tree, Math.round(nodes / kind.nodesOfAKey));
  const count = tree.tree.nodeCount;
  const bytes = heldBytes() - empty;
  const row = {
    tree: name,
    nodes: count,
    units: tree.size,
    bytesPerNode: Math.round(bytes / count),
    besideItsText: Math.round((bytes - tree.size * kind.unitBytes) / count),
    fillMicros: rounded(filled.micros),
    longestFillMs: rounded(filled.longest),
  };
  for (const [size, length] of Object.entries(PROMPTS)) row[`${size} micros`] = rounded(turns(kind, tree, length));
  row.forgetMicros = rounded(timed(() => tree.forget(WORKERS[0])) * 1000);
  const swept = pieces(() => tree.sweep());
  const evicted = pieces(() => tree.tree.evict(0));
  return {
    ...row,
    sweepMedianMs: rounded(swept.median),
    sweepLongestMs: rounded(swept.longest),
    evictMedianMs: rounded(evicted.median),
    evictLongestMs: rounded(evicted.longest),
  };
}

/** Conversations of a few turns that share system prompts; answers with the longest single match and insert. */
function fill(kind, tree, keys) {
  let longest = 0;
  let spent = 0;
  for (let i = 0; i < keys; i++) {
    const { chat, text } = turnOf(i);
    const key = kind.key(text);
    const took = timed(() => {
      tree.match(key, null);
      tree.insert(key, null, WORKERS[chat % WORKERS.length]);
    });
    longest = Math.max(longest, took);
    spent += took;
  }
  return { longest, micros: (spent * 1000) / keys };
}

/** Microseconds of a match and an insert of a prompt of that length that the tree knows but for its end. */
function turns(kind, tree, length) {
  const text = 'a conversation that goes on and on and never ends '
    .repeat(Math.ceil(length / 50))
    .slice(0, length - 50);
  tree.insert(kind.key(text), null, WORKERS[1]);
  const times = [];
  for (let i = 0; i < ROUNDS; i++) {
    const key = kind.key(`${text}and then ${i} of ${length} and ${'more '.repeat(6)}`);
    times.push(
      timed(() => {
        tree.match(key, null);
        tree.insert(key, null, WORKERS[i % WORKERS.length]);
      }),
    );
  }
  return median(times) * 1000;
}

function pieces(step) {
  const times = [];
  for (let more = true; more; ) {
    times.push(
      timed(() => {
        more = step();
      }),
    );
  }
  return { median: median(times), longest: Math.max(...times) };
}

function timed(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}
