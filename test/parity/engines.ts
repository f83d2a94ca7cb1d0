import { freePort } from '../support/ports.ts';
import { Engine, type SeenRequest, type Shared } from './engine.ts';
import { Holds, type SideName } from './marks.ts';

export interface EnginesOptions {
  /** 3 when unset. */
  readonly count?: number;
  /** Models of each engine; `m` alone when unset. */
  readonly models?: readonly (readonly string[])[];
  /** The engines tell their load, 0 at first. */
  readonly loads?: boolean;
}

/** The engines that both sides route to. */
export class Engines {
  readonly list: readonly Engine[];
  readonly #shared: Shared;
  readonly #options: EnginesOptions;

  private constructor(list: readonly Engine[], shared: Shared, options: EnginesOptions) {
    this.list = list;
    this.#shared = shared;
    this.#options = options;
    this.reset();
  }

  static async start(options: EnginesOptions = {}): Promise<Engines> {
    const { count = 3, models } = options;
    const first = await freePort('127.0.0.1', count);
    const shared: Shared = { holds: new Holds(), log: [] };
    const starting = Array.from({ length: count }, (_, index) =>
      Engine.start(index, first + index, models?.[index] ?? ['m'], shared),
    );
    return new Engines(await Promise.all(starting), shared, options);
  }

  get urls(): readonly string[] {
    return this.list.map((engine) => engine.url);
  }

  at(index: number): Engine {
    const engine = this.list[index];
    if (engine === undefined) throw new Error(`no engine ${index}`);
    return engine;
  }

  /** What one side sent in a step, in the order of arrival. */
  seen(side: SideName, step: string): readonly SeenRequest[] {
    return this.#shared.log.filter((request) => request.side === side && request.step === step);
  }

  release(name: string): void {
    this.#shared.holds.release(name);
  }

  /** Back to how they were born; forgets what they saw. */
  reset(): void {
    this.#shared.holds.releaseAll();
    this.#shared.log.length = 0;
    for (const engine of this.list) {
      engine.health = 200;
      engine.fails = null;
      engine.report = this.#options.loads === true ? {} : null;
      engine.thaw();
    }
  }

  async close(): Promise<void> {
    this.#shared.holds.releaseAll();
    await Promise.all(this.list.map((engine) => engine.close()));
  }
}
