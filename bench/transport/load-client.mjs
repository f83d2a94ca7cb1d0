/**
 * Plays Envoys, in a process of its own. Takes one order at a time from its parent and answers with what it saw:
 *
 * - `paced`: open loop. Calls have a schedule that no slow answer delays, and latency counts from the scheduled time to the
 *   whole answer.
 * - `closed`: each of some places on each connection starts a call as soon as it has its answer.
 * - `held`: opens calls that stay open after their answer, until an order `release`.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { quantile } from '../lib/stats.mjs';
import { createCalls } from './calls.mjs';
import { Peer } from './peer.mjs';

/** Past this many unanswered calls the schedule is given up: the rate cannot be held. */
const MAX_UNANSWERED = 2000;
/** What has not ended so long after the last call is lost. */
const LAST_CALL_MS = 5000;
/** Opened at once when calls are held. */
const HELD_AT_ONCE = 100;

let held = null;

process.on('message', (order) => {
  run(order).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.once('disconnect', () => process.exit());

async function run(order) {
  if (order.kind === 'release') {
    held?.pool.close();
    held = null;
    return { sent: 0 };
  }
  const tally = { sent: 0, answered: 0, over: 0, failed: 0, lost: 0, latencies: [], late: [] };
  const calls = createCalls(order.variant);
  const pool = new Pool(order, calls);
  await pool.open();
  const kinds = { paced, closed, held: hold };
  const start = performance.now();
  let rateHeld = true;
  try {
    rateHeld = (await kinds[order.kind](order, pool, calls, tally)) !== false;
    const seconds = (performance.now() - start) / 1000;
    // Ends come after answers.
    if (order.kind === 'held') held = { pool };
    else
      for (const end = performance.now() + LAST_CALL_MS; tally.over < tally.sent && performance.now() < end; )
        await pause(5);
    return summary(tally, seconds, rateHeld, pool.reconnects, order.kind === 'held');
  } finally {
    calls.close();
    if (order.kind !== 'held') {
      // Lets the last entries of a log leave.
      await pause(20);
      pool.close();
    }
  }
}

/** The connections of an order. One that is gone is replaced, as Envoy does. */
class Pool {
  reconnects = 0;
  #peers;
  #address;
  #calls;

  constructor({ address, connections }, calls) {
    this.#address = address;
    this.#calls = calls;
    this.#peers = Array.from({ length: connections }, () => new Peer(address));
  }

  async open() {
    await Promise.all(this.#peers.map((peer) => peer.opened()));
    for (const peer of this.#peers) this.#calls.prepare(peer);
  }

  peer(number) {
    const index = number % this.#peers.length;
    if (!this.#peers[index].usable) {
      this.reconnects += 1;
      this.#peers[index] = new Peer(this.#address);
      this.#calls.prepare(this.#peers[index]);
    }
    return this.#peers[index];
  }

  close() {
    for (const peer of this.#peers) peer.close();
  }
}

async function paced({ rate, seconds }, pool, calls, tally) {
  const count = Math.round(rate * seconds);
  const intervalMs = 1000 / rate;
  const wallStart = performance.timeOrigin + performance.now() + 100;
  const start = wallStart - performance.timeOrigin;
  const workerData = { startAt: wallStart, intervalMs, count };
  const pacer = new Worker(new URL('../end-to-end/pacer.mjs', import.meta.url), { workerData });
  let given = false;
  const answered = (call) => {
    tally.answered += 1;
    tally.latencies.push(performance.now() - call.due);
  };
  pacer.on('message', (number) => {
    if (given || tally.sent - tally.over > MAX_UNANSWERED) {
      if (!given) void pacer.terminate();
      given = true;
      return;
    }
    const due = start + number * intervalMs;
    tally.late.push(performance.now() - due);
    begin(calls, pool, number, due, tally, answered);
  });
  await once(pacer, 'exit');
  const end = performance.now() + LAST_CALL_MS;
  while (tally.answered + tally.failed < tally.sent && performance.now() < end) await pause(1);
  return !given;
}

async function closed({ seconds, connections, streams }, pool, calls, tally) {
  const end = performance.now() + seconds * 1000;
  let number = 0;
  let unanswered = 0;
  let done = () => undefined;
  const all = new Promise((resolve) => {
    done = resolve;
  });
  const next = () => {
    const now = performance.now();
    if (now >= end) {
      if (unanswered === 0) done();
      return;
    }
    unanswered += 1;
    let waits = true;
    const leave = () => {
      if (!waits) return;
      waits = false;
      unanswered -= 1;
      next();
    };
    const answered = (call) => {
      tally.answered += 1;
      tally.latencies.push(performance.now() - call.due);
      leave();
    };
    begin(calls, pool, number++, now, tally, answered, leave);
  };
  for (let i = 0; i < connections * streams; i++) next();
  await Promise.race([all, pause(seconds * 1000 + LAST_CALL_MS, undefined, { ref: false })]);
}

async function hold({ open }, pool, calls, tally) {
  const answered = () => {
    tally.answered += 1;
  };
  for (let number = 0; number < open; number++) {
    begin(calls, pool, number, performance.now(), tally, answered, undefined, true);
    while (tally.sent - tally.answered - tally.failed >= HELD_AT_ONCE) await pause(1);
  }
  const end = performance.now() + LAST_CALL_MS;
  while (tally.answered + tally.failed < open && performance.now() < end) await pause(5);
}

function begin(calls, pool, number, due, tally, answered, failed = () => undefined, held = false) {
  tally.sent += 1;
  const over = (_, right) => {
    tally.over += 1;
    if (right || held) return;
    tally.failed += 1;
    failed();
  };
  calls.start(pool.peer(number), number, due, answered, over, held);
}

function summary(tally, seconds, rateHeld, reconnects, held) {
  const { sent, answered, over, failed } = tally;
  const latencies = Float64Array.from(tally.latencies).sort();
  const late = Float64Array.from(tally.late).sort();
  return {
    sent,
    answered,
    failed,
    lost: held ? 0 : sent - over,
    seconds,
    rateHeld,
    reconnects,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    p999Ms: quantile(latencies, 0.999),
    lateP99Ms: quantile(late, 0.99),
  };
}
