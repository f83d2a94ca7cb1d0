import { until } from '../support/until.ts';
import { type Both, Comparison } from './compare.ts';
import { growth, type Reading, readCounters, readGauges } from './compared-metrics.ts';
import type { Difference } from './difference.ts';
import { alike } from './distribution.ts';
import { explain } from './intended-differences.ts';
import { accountOf, countedOf, OWN_ACCOUNT } from './own-account.ts';
import { Player } from './player.ts';
import type { Request, Scenario, Step } from './scenario.ts';
import type { Side, Stand } from './stand.ts';

/** How long our counters may lag behind the last answer: request ends come over Envoy's access log. */
const METRICS_LAG_MS = 1_500;

export interface Run {
  /** Points compared. */
  readonly compared: number;
  readonly differences: readonly Difference[];
}

/** Plays a scenario to both sides of a stand and compares. Leaves the engines as they were born. */
export async function runScenario(stand: Stand, scenario: Scenario): Promise<Run> {
  await align(stand, scenario);
  const run = new ScenarioRun(stand, scenario);
  return run.run();
}

class ScenarioRun {
  readonly #stand: Stand;
  readonly #scenario: Scenario;
  readonly #players: Both<Player>;
  readonly #comparison: Comparison;

  constructor(stand: Stand, scenario: Scenario) {
    this.#stand = stand;
    this.#scenario = scenario;
    const player = (name: 'smg' | 'ours'): Player => new Player(stand, sideOf(stand, name), scenario);
    this.#players = { smg: player('smg'), ours: player('ours') };
    this.#comparison = new Comparison(scenario.title, stand.options);
  }

  async run(): Promise<Run> {
    const before = await this.#read();
    let moved = false;
    try {
      let number = 1;
      for (const step of this.#scenario.steps) {
        await this.#take(step, number++);
        moved ||= step.kind === 'healthy' || step.kind === 'loads';
      }
    } finally {
      this.#stand.engines.reset();
    }
    if (moved) await allReady(this.#stand);
    const metrics = await this.#settledMetrics(before);
    return {
      compared: this.#comparison.count + metrics.count,
      differences: [...this.#comparison.differences, ...metrics.differences],
    };
  }

  async #take(step: Step, number: number): Promise<void> {
    const { engines, sides } = this.#stand;
    const at = String(number);
    switch (step.kind) {
      case 'send': {
        const outcomes = await this.#both((player) => player.send(at, step.request));
        return this.#comparison.outcome(number, step.request, this.#choice(step.request), outcomes);
      }
      case 'together':
        return this.#together(number, step.requests);
      case 'spread': {
        const { smg, ours } = await this.#both((player) => player.spread(at, step.count, step.make));
        const told = alike(smg, ours) ? ['alike', 'alike'] : [smg.join(' '), ours.join(' ')];
        return this.#comparison.point(number, step.make(0), 'distribution', told[0] ?? '', told[1] ?? '');
      }
      case 'hold': {
        const where = await this.#both((player) => player.hold(at, step.name, step.request));
        return this.#comparison.worker(number, step.request, this.#choice(step.request), where);
      }
      case 'release': {
        const outcomes = await this.#both((player) => player.release(step.name));
        return this.#comparison.outcome(number, {}, 'free', outcomes);
      }
      case 'gauges':
        return this.#gauges(number);
      case 'fail':
        for (const index of step.engines) engines.at(index).fails = step.status;
        return;
      case 'healthy':
        for (const engine of engines.list) engine.health = step.engines.includes(engine.index) ? 200 : 503;
        for (const side of sides) await readyAt(side, step.engines);
        return;
      case 'loads':
        return setLoads(this.#stand, step.reports);
      case 'until':
        for (const side of sides.filter(({ name }) => name === 'ours' || !step.oursOnly))
          await until(
            async () => (await side.metrics()).sum(step.metric, this.#labels(step.labels)) === step.value,
            `${side.name}: ${step.metric} is ${step.value}`,
          );
        return;
    }
  }

  /** Labels with `engine` in place of the worker's URL. */
  #labels({ engine, ...labels }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return engine === undefined ? labels : { ...labels, worker: this.#stand.engines.at(Number(engine)).url };
  }

  #choice(request: Request) {
    return request.choice ?? this.#scenario.choice ?? 'exact';
  }

  async #both<T>(act: (player: Player) => Promise<T>): Promise<Both<T>> {
    const [smg, ours] = await Promise.all([act(this.#players.smg), act(this.#players.ours)]);
    return { smg, ours };
  }

  async #together(number: number, requests: readonly Request[]): Promise<void> {
    const { smg, ours } = await this.#both((player) => player.together(String(number), requests));
    for (const [index, request] of requests.entries()) {
      const pair = { smg: smg[index], ours: ours[index] };
      if (pair.smg === undefined || pair.ours === undefined) throw new Error('an answer is missing');
      const choice = this.#choice(request);
      this.#comparison.outcome(number, request, choice === 'exact' ? 'free' : choice, {
        smg: pair.smg,
        ours: pair.ours,
      });
    }
    if (this.#scenario.choice !== undefined && this.#scenario.choice !== 'exact') return;
    const told = (outcomes: typeof smg): string =>
      outcomes
        .map((outcome) => String(outcome.worker))
        .sort()
        .join(' ');
    this.#comparison.point(number, null, 'workers', told(smg), told(ours));
  }

  async #gauges(number: number): Promise<void> {
    const exact = (this.#scenario.choice ?? 'exact') === 'exact';
    const read = async (side: Side): Promise<string> => {
      const metrics = await side.metrics();
      return ['smg_worker_requests_active', 'smg_worker_routing_keys_active']
        .map((name) => {
          const values = this.#stand.engines.urls.map((worker) => metrics.sum(name, { worker }));
          return `${name}: ${(exact ? values : values.sort()).join(' ')}`;
        })
        .join('; ');
    };
    const wanted = await read(sideOf(this.#stand, 'smg'));
    const got = await agree(() => read(sideOf(this.#stand, 'ours')), wanted);
    this.#comparison.point(number, null, 'gauges', wanted, got);
  }

  /** Compares counters and gauges, giving ours the time they need. */
  async #settledMetrics(before: Both<Reading>): Promise<Comparison> {
    const end = performance.now() + METRICS_LAG_MS;
    for (;;) {
      const comparison = await this.#compareMetrics(before);
      if (comparison.differences.every((each) => explain(each) !== undefined) || performance.now() > end) {
        return comparison;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #compareMetrics(before: Both<Reading>): Promise<Comparison> {
    const comparison = new Comparison(this.#scenario.title, this.#stand.options);
    const after = await this.#read();
    const grown = { smg: growth(before.smg, after.smg), ours: growth(before.ours, after.ours) };
    compareReadings(comparison, grown);
    compareAccount(comparison, accountOf(this.#players.ours.outcomes), countedOf(grown.ours));
    const { urls } = this.#stand.engines;
    const [smg, ours] = await Promise.all(
      (['smg', 'ours'] as const).map(async (name) => readGauges(await sideOf(this.#stand, name).metrics(), urls)),
    );
    if (smg !== undefined && ours !== undefined) compareReadings(comparison, { smg, ours });
    return comparison;
  }

  async #read(): Promise<Both<Reading>> {
    const read = async (name: 'smg' | 'ours'): Promise<Reading> =>
      readCounters(await sideOf(this.#stand, name).metrics(), this.#stand.engines.urls);
    const [smg, ours] = await Promise.all([read('smg'), read('ours')]);
    return { smg, ours };
  }
}

function compareReadings(comparison: Comparison, { smg, ours }: Both<Reading>): void {
  for (const name of new Set([...smg.keys(), ...ours.keys()])) {
    comparison.point(0, null, name, String(smg.get(name) ?? 0), String(ours.get(name) ?? 0));
  }
}

function compareAccount(comparison: Comparison, account: Reading, counted: Reading): void {
  for (const [name, value] of account) {
    comparison.point(0, null, `${OWN_ACCOUNT}${name}`, String(value), String(counted.get(name) ?? 0));
  }
}

function sideOf(stand: Stand, name: 'smg' | 'ours'): Side {
  const side = stand.sides.find((each) => each.name === name);
  if (side === undefined) throw new Error(`no side ${name}`);
  return side;
}

/** Brings the rotations of both sides to their first worker, whatever the scenario before has done to them. */
async function align(stand: Stand, scenario: Scenario): Promise<void> {
  const { list } = stand.engines;
  for (const model of stand.policy === 'round_robin' ? new Set(list.map((engine) => engine.models[0])) : []) {
    const last = list.findLast((engine) => engine.models[0] === model)?.index;
    for (const side of stand.sides) {
      const player = new Player(stand, side, scenario);
      const request = { model: model ?? null };
      await until(async () => (await player.send('align', request)).worker === last, `${side.name} stands at its last`);
    }
  }
  // Else the ends of those requests would be counted for the scenario.
  await until(
    async () => (await sideOf(stand, 'ours').metrics()).sum('smg_envoy_picks_in_flight') === 0,
    'all has ended',
  );
}

async function readyAt(side: Side, engines: readonly number[]): Promise<void> {
  const wanted = [...engines].sort().join(' ');
  await until(async () => (await side.ready()).join(' ') === wanted, `${side.name}: engines ${wanted} are ready`);
}

async function allReady(stand: Stand): Promise<void> {
  const all = stand.engines.list.map((engine) => engine.index);
  for (const side of stand.sides) await readyAt(side, all);
}

async function setLoads(stand: Stand, reports: Extract<Step, { kind: 'loads' }>['reports']): Promise<void> {
  const { list } = stand.engines;
  for (const engine of list) {
    engine.report = reports[engine.index] ?? engine.report;
    engine.thaw();
  }
  const before = list.map(({ polls }) => ({ ...polls }));
  // Twice, so that one of them was asked after the change by both.
  await until(
    () =>
      list.every(({ polls }, i) => polls.smg >= (before[i]?.smg ?? 0) + 2 && polls.ours >= (before[i]?.ours ?? 0) + 2),
    'both sides asked each engine for its load',
  );
  for (const engine of list) engine.freeze();
  for (const side of stand.sides) {
    await until(async () => {
      const metrics = await side.metrics();
      return list.every(
        ({ url, report }) =>
          report === null || metrics.sum('smg_engine_waiting_requests', { worker: url }) === (report.waiting ?? 0),
      );
    }, `${side.name} read the loads`);
  }
}

async function agree(read: () => Promise<string>, wanted: string): Promise<string> {
  const end = performance.now() + METRICS_LAG_MS;
  for (;;) {
    const got = await read();
    if (got === wanted || performance.now() > end) return got;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
