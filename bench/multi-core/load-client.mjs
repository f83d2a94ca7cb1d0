/**
 * Plays an Envoy before several replicas, in a process of its own: each of its connections goes to one of them, by turns. Takes
 * one order at a time from its parent and answers with what it saw. `closed`: a number of places that start a request as soon
 * as they have their answer. `paced`: requests have a schedule that no slow answer delays.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { quantile } from '../lib/stats.mjs';
import { headersRequest } from '../transport/messages.mjs';
import { Connection } from './connection.mjs';
import { Turns } from './turns.mjs';

/** Past this many unanswered requests the schedule is given up: the rate cannot be held. */
const MAX_UNANSWERED = 2000;
const LAST_CALL_MS = 5000;
const LISTEN_MS = 100;

const KINDS = ['known', 'new', 'second'];
/** Of each stand, by its name: what it is known to have answered lasts over orders. */
const turnsOf = new Map();
let firsts = [];

process.on('message', (order) => {
  run(order).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.once('disconnect', () => process.exit());

async function run(order) {
  const { stand, addresses, connections, keys, holdMs } = order;
  if (firsts.length !== keys) {
    firsts = Array.from({ length: keys }, (_, i) => headersRequest({ 'x-smg-routing-key': `known-${i}` }));
  }
  if (!turnsOf.has(stand)) turnsOf.set(stand, new Turns(firsts, connections, stand));
  const pool = Array.from({ length: connections }, (_, i) => new Connection(addresses[i % addresses.length], holdMs));
  const load = new Load(order, turnsOf.get(stand), pool);
  try {
    await Promise.all(pool.map((connection) => connection.open()));
    // The service has to know of the log before the first pick.
    await pause(LISTEN_MS);
    const start = performance.now();
    const rateHeld = order.kind === 'paced' ? await paced(order, load) : await closed(order, load);
    const seconds = (performance.now() - start) / 1000;
    for (const end = performance.now() + holdMs + LAST_CALL_MS; performance.now() < end; await pause(5)) {
      if (load.over === load.sent && pool.every(({ settled }) => settled)) break;
    }
    await pause(LISTEN_MS);
    return { ...load.summary(), seconds, rateHeld };
  } finally {
    for (const connection of pool) connection.close();
  }
}

/** Requests of one order, and what became of them. */
class Load {
  sent = 0;
  answered = 0;
  over = 0;
  #failed = 0;
  #of = Object.fromEntries(KINDS.map((kind) => [kind, { answered: 0, differing: 0, latencies: [] }]));
  #turns;
  #pool;
  #newPercent;

  constructor({ newPercent }, turns, pool) {
    this.#newPercent = newPercent;
    this.#turns = turns;
    this.#pool = pool;
  }

  get unanswered() {
    return this.sent - this.answered;
  }

  /** Starts a request that was due at a time; `left` is called once, with its answer or its failure. */
  start(due, left) {
    const turn = this.#turns.next(this.#newPercent);
    const tally = this.#of[turn.kind];
    let waits = true;
    const leave = () => {
      if (!waits) return;
      waits = false;
      this.answered += 1;
      left();
    };
    this.sent += 1;
    const answered = (worker) => {
      tally.answered += 1;
      tally.latencies.push(performance.now() - due);
      if (worker !== '' && !this.#turns.answered(turn, worker)) tally.differing += 1;
      leave();
    };
    this.#pool[turn.connection].ask(turn.message, answered, (right) => {
      this.over += 1;
      if (!right) this.#failed += 1;
      leave();
    });
  }

  summary() {
    const kinds = Object.entries(this.#of).map(([kind, { answered, differing, latencies }]) => {
      const sorted = Float64Array.from(latencies).sort();
      return [kind, { answered, differing, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) }];
    });
    const { sent, over } = this;
    return { sent, failed: this.#failed + sent - over, kinds: Object.fromEntries(kinds) };
  }
}

/** For some seconds, or until a number of requests was sent. */
async function closed({ seconds, places, count = Number.POSITIVE_INFINITY }, load) {
  const end = performance.now() + seconds * 1000;
  let done = () => undefined;
  const all = new Promise((resolve) => {
    done = resolve;
  });
  const next = () => {
    const now = performance.now();
    if (now < end && load.sent < count) load.start(now, next);
    else if (load.unanswered === 0) done();
  };
  for (let i = 0; i < places; i++) next();
  await Promise.race([all, pause(seconds * 1000 + LAST_CALL_MS, undefined, { ref: false })]);
  return true;
}

/** False when the rate could not be held. */
async function paced({ rate, seconds }, load) {
  const count = Math.round(rate * seconds);
  const intervalMs = 1000 / rate;
  const wallStart = performance.timeOrigin + performance.now() + 100;
  const start = wallStart - performance.timeOrigin;
  const workerData = { startAt: wallStart, intervalMs, count };
  const pacer = new Worker(new URL('../end-to-end/pacer.mjs', import.meta.url), { workerData });
  let given = false;
  pacer.on('message', (number) => {
    if (given) return;
    given = load.unanswered > MAX_UNANSWERED;
    if (given) void pacer.terminate();
    else load.start(start + number * intervalMs, () => undefined);
  });
  await once(pacer, 'exit');
  return !given;
}
