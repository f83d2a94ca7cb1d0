import type { Check, Finding } from './check.ts';
import { Findings } from './check.ts';
import { type Connection, play } from './connection.ts';
import type { Context, Fleet, Knowledge, Load, LoadMinded } from './context.ts';
import { discover } from './fleet.ts';
import { tryLoad } from './held-load.ts';
import type { Outcome } from './outcome.ts';
import { type BodyMode, modeOf } from './plan.ts';
import { type RequestOptions, Requests } from './requests.ts';
import { trySticking } from './sticky.ts';
import { tourPlans } from './tour.ts';

export interface RunOptions {
  /** Opens a connection to the picker. */
  readonly connect: () => Connection;
  readonly requests: RequestOptions;
  /** Set apart from other runs: keys and ids of requests begin with it. */
  readonly name: string;
  readonly knowledge: Knowledge;
  readonly load: Load;
}

/** Enough to meet the limits that servers have by default. */
export const FULL_LOAD: Load = {
  largestBody: 50 * 1024 * 1024,
  largestMessage: 18 * 1024 * 1024,
  streams: 200,
  resets: 1000,
  held: 24,
  sample: 48,
  silenceMs: 200,
};

/**
 * - `pass`: all that was tried held, and all was tried.
 * - `fail`: something that was tried did not hold.
 * - `skip`: something could not be tried on this picker, and the rest held.
 */
export type Result = 'pass' | 'fail' | 'skip';

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly result: Result;
  readonly milliseconds: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs the checks one after another on one picker.
 *
 * @param onResult told of each result as it comes
 * @returns rejects when the picker cannot be reached
 */
export async function runChecks(
  checks: readonly Check[],
  options: RunOptions,
  onResult: (result: CheckResult) => void = () => {},
): Promise<readonly CheckResult[]> {
  const connection = options.connect();
  try {
    await connection.ready();
    const context = contextOf(connection, options);
    const results: CheckResult[] = [];
    for (const check of checks) {
      const result = await runCheck(check, context);
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    connection.close();
  }
}

async function runCheck(check: Check, context: Context): Promise<CheckResult> {
  const findings = new Findings();
  const began = performance.now();
  await check.run(context, findings);
  const { id, title, source } = check;
  const verdicts = new Set(findings.list.map(({ verdict }) => verdict));
  const result = verdicts.has('broken') ? 'fail' : verdicts.has('held') && !verdicts.has('unjudged') ? 'pass' : 'skip';
  return { id, title, source, result, milliseconds: performance.now() - began, findings: findings.list };
}

function contextOf(connection: Connection, options: RunOptions): Context {
  const requests = new Requests(options.requests, options.name);
  const placed = new Map<BodyMode, Promise<boolean>>();
  let fleet: Promise<Fleet> | null = null;
  let minded: Promise<LoadMinded | null> | null = null;
  let sticks: Promise<boolean> | null = null;
  let tour: Promise<readonly Outcome[]> | null = null;
  const context: Context = {
    knowledge: options.knowledge,
    load: options.load,
    requests,
    connection,
    connect: options.connect,
    play: (plan) => play(connection, plan),
    playAll: (plans) => Promise.all(plans.map((plan) => play(connection, plan))),
    places: (mode) => {
      const known = placed.get(mode);
      if (known !== undefined) return known;
      const plan = requests.plan('an ordinary request', { mode: modeOf(mode) });
      const tried = play(connection, plan).then(({ first }) => first !== null);
      placed.set(mode, tried);
      return tried;
    },
    fleet: () => {
      fleet ??= discover(context);
      return fleet;
    },
    loadMinded: () => {
      minded ??= tryLoad(context);
      return minded;
    },
    sticks: () => {
      sticks ??= trySticking(context);
      return sticks;
    },
    tour: () => {
      tour ??= context.playAll(tourPlans(requests));
      return tour;
    },
  };
  return context;
}
