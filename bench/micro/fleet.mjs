/** What a change of the fleet and a request in flight cost. */
import { createWorld, fleetOf } from './world.mjs';

const WORKERS = [3, 30, 300];
const OPEN = [0, 10_000];

/** One change of state of one worker: a new snapshot of all. */
export function snapshotCases() {
  return WORKERS.map((workers) => {
    const registry = fleetOf(workers);
    const [first] = registry.instances;
    return {
      name: 'snapshot',
      facts: { workers },
      run(count) {
        for (let i = 0; i < count; i++) {
          if (i % 2 === 0) registry.drain(first.id);
          else registry.undrain(first.id);
        }
      },
      finish: () => registry.undrain(first.id),
    };
  });
}

/** One pick that begins and ends, beside others in flight. */
export function ledgerCases() {
  return OPEN.map((others) => {
    const { ledger, registry } = createWorld(3, {});
    const worker = registry.current.workers[0];
    const pick = (number, now) => ({
      pickId: `0badcafe-${number.toString(36)}`,
      worker,
      loadKey: `conversation-${number % 1000}`,
      pinKey: `s:conversation-${number % 1000}`,
      model: 'bench',
      endpoint: 'chat',
      now,
      periodicLogMs: 10_000,
    });
    let next = 0;
    for (; next < others; next++) ledger.open(pick(next, next));
    return {
      name: 'open and end',
      facts: { others },
      run(count) {
        for (let i = 0; i < count; i++, next++) {
          const entry = pick(next, next);
          ledger.open(entry);
          ledger.end(entry.pickId);
        }
      },
    };
  });
}
