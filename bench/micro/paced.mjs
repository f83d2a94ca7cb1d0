/**
 * Whole decisions at a steady rate, as they come from Envoy but for the messages: read, decide, store the pin, open and end
 * the request, count; with the service's own housekeeping beside it. Tells whether the rate is held, at what share of one
 * processor, and for how long the process was away at most.
 */
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { quantile, rounded } from '../lib/stats.mjs';
import { busyWorld, KINDS, requestsOf } from './kinds.mjs';
import { collectGarbage } from './measure.mjs';
import { FACTS, housekeepingOf } from './world.mjs';

const WORKERS = 1000;
/** Requests end this many requests later. */
const OPEN = 1000;

export async function measurePaced({ rate, seconds }) {
  const rows = [];
  for (const kind of KINDS) rows.push(await pace(kind, rate, seconds));
  return rows;
}

async function pace(kind, rate, seconds) {
  const world = busyWorld(kind, WORKERS);
  const requests = requestsOf(kind);
  const housekeeping = housekeepingOf(world);
  const open = Array.from({ length: OPEN }, () => '');
  let number = 0;
  const decide = () => {
    const { head, body } = requests[number % requests.length];
    world.picker.plan(head);
    const answer = world.picker.pick(head, body === null ? null : { bytes: body, complete: true }, FACTS);
    if (answer.kind !== 'pick') throw new Error(`not placed: ${JSON.stringify(answer)}`);
    const place = number++ % OPEN;
    if (open[place] !== '') world.ledger.end(open[place]);
    open[place] = answer.pickId;
  };
  for (let i = 0; i < requests.length + 3 * OPEN; i++) decide();
  collectGarbage();

  const took = new Float64Array(rate * seconds);
  const collections = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  let longestTurn = 0;
  let spent = 0;
  let late = 0;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  let turn = start;
  for (let done = 0; done < took.length; ) {
    const now = performance.now();
    longestTurn = Math.max(longestTurn, now - turn);
    turn = now;
    const due = Math.min(took.length, Math.floor(((now - start) * rate) / 1000) + 1);
    late = Math.max(late, due - done);
    while (done < due) {
      const before = performance.now();
      decide();
      took[done] = (performance.now() - before) * 1000;
      spent += took[done++];
    }
    await nextTurn();
  }
  const elapsed = performance.now() - start;
  const cpu = process.cpuUsage(cpuBefore);
  await nextTurn();
  observer.disconnect();
  housekeeping.close();
  took.sort();
  return {
    name: kind.name,
    workers: WORKERS,
    perSecond: Math.round((took.length * 1000) / elapsed),
    micros: rounded(quantile(took, 0.5)),
    p99: rounded(quantile(took, 0.99)),
    longestMs: rounded(quantile(took, 1) / 1000),
    share: rounded(spent / 1000 / elapsed),
    longestTurnMs: rounded(longestTurn),
    longestCollectionMs: rounded(Math.max(0, ...collections.map((entry) => entry.duration))),
    ranMs: rounded((cpu.user + cpu.system) / 1000),
    mostLate: late,
  };
}
