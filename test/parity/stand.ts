import type { Metrics } from '../support/service-process.ts';
import { SmgProcess } from '../support/smg-process.ts';
import { FAST_HEALTH, startFront } from '../support/stack.ts';
import { Engines } from './engines.ts';
import type { SideName } from './marks.ts';
import type { StandOptions } from './scenario.ts';

/** One of the two that route. */
export interface Side {
  readonly name: SideName;
  /** Where its clients connect. */
  readonly url: string;
  metrics(): Promise<Metrics>;
  /** Indices of the engines that get traffic, in ascending order. */
  ready(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** SMG's launcher spells these differently. */
const LAUNCHER_NAMES: Readonly<Record<string, string>> = { '--eviction-interval': '--eviction-interval-secs' };

/** SMG, and the service behind a real Envoy, before the same engines. */
export class Stand {
  readonly options: StandOptions;
  readonly engines: Engines;
  readonly sides: readonly Side[];

  private constructor(options: StandOptions, engines: Engines, sides: readonly Side[]) {
    this.options = options;
    this.engines = engines;
    this.sides = sides;
  }

  static async start(options: StandOptions): Promise<Stand> {
    const engines = await Engines.start(options.engines);
    const starting = await Promise.allSettled([startSmg(options, engines), startOurs(options, engines)]);
    const sides = starting.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = starting.find((each) => each.status === 'rejected');
    const stand = new Stand(options, engines, sides);
    if (failed === undefined) return stand;
    await stand.close();
    throw failed.reason;
  }

  get policy(): string {
    return this.options.flags[this.options.flags.indexOf('--policy') + 1] ?? '';
  }

  async close(): Promise<void> {
    await Promise.all(this.sides.map((side) => side.stop()));
    await this.engines.close();
  }
}

async function startSmg(options: StandOptions, engines: Engines): Promise<Side> {
  const smg = await SmgProcess.start({
    version: options.smg ?? '1.11.0',
    flags: [...options.flags, ...FAST_HEALTH].map((flag) => LAUNCHER_NAMES[flag] ?? flag),
    workers: engines.urls,
    together: options.flags.includes('power_of_two'),
  });
  return {
    name: 'smg',
    url: smg.url,
    metrics: () => smg.metrics(),
    ready: async () => {
      const ready = await smg.ready();
      return engines.list.filter((engine) => ready.has(engine.url)).map((engine) => engine.index);
    },
    stop: () => smg.stop(),
  };
}

async function startOurs(options: StandOptions, engines: Engines): Promise<Side> {
  const flags = [...options.flags, ...(options.ours ?? []), ...FAST_HEALTH];
  const front = await startFront({
    settings: [...flags, '--worker-urls', ...engines.urls],
    known: engines.list.length,
  });
  return {
    name: 'ours',
    url: front.envoy.url,
    metrics: () => front.service.metrics(),
    ready: async () => {
      const seen = await front.endpoints();
      return engines.list.filter(({ url }) => seen.get(url.slice(7)) === 'healthy').map((engine) => engine.index);
    },
    stop: () => front.close(),
  };
}
