import { median, rounded } from '../lib/stats.mjs';

/**
 * How well prompts kept to the workers that knew their beginning. Of all requests but the first of each beginning:
 *
 * - `warm`: share that came to a worker which had served that beginning before, in the order of sending
 * - `same`: share that came to the worker of the beginning's previous request
 *
 * `holders` is the mean number of workers that served a beginning, `busiest` the most requests of a worker over the mean.
 */
export function ratesOf(prompts, served, workers) {
  const before = new Map();
  const counts = new Map();
  let [later, warm, same, failed] = [0, 0, 0, 0];
  for (const [number, { prefix }] of prompts.entries()) {
    const worker = served[number];
    if (worker === '') {
      failed += 1;
      continue;
    }
    counts.set(worker, (counts.get(worker) ?? 0) + 1);
    const known = before.get(prefix);
    if (known === undefined) {
      before.set(prefix, { last: worker, all: new Set([worker]) });
      continue;
    }
    later += 1;
    if (known.all.has(worker)) warm += 1;
    if (known.last === worker) same += 1;
    known.all.add(worker);
    known.last = worker;
  }
  const holders = [...before.values()].reduce((sum, { all }) => sum + all.size, 0) / before.size;
  const busiest = (Math.max(...counts.values()) * workers) / (prompts.length - failed);
  return { sent: prompts.length, failed, warm: warm / later, same: same / later, holders, busiest };
}

/** The rounds of one system as one row: medians. */
export function together(rows) {
  const [{ scenario, system }] = rows;
  const figures = Object.fromEntries(
    ['warm', 'same', 'holders', 'busiest'].map((name) => [name, rounded(median(rows.map((row) => row[name])))]),
  );
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  return { scenario, system, sent: sum('sent'), failed: sum('failed'), ...figures };
}
