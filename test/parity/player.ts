import { type Answer, ask, type Exchange, start } from '../support/http.ts';
import { until } from '../support/until.ts';
import type { SideName } from './marks.ts';
import { toMessage } from './message.ts';
import { type Outcome, readOutcome } from './outcome.ts';
import type { Request, Scenario } from './scenario.ts';
import type { Side, Stand } from './stand.ts';

/** Sends the requests of one scenario to one side. */
export class Player {
  readonly #stand: Stand;
  readonly #side: Side;
  readonly #scenario: Scenario;
  readonly #outcomes: Outcome[] = [];
  readonly #held = new Map<string, { readonly request: Request; readonly step: string; readonly exchange: Exchange }>();

  constructor(stand: Stand, side: Side, scenario: Scenario) {
    this.#stand = stand;
    this.#side = side;
    this.#scenario = scenario;
  }

  get side(): SideName {
    return this.#side.name;
  }

  /** What came of the requests so far. */
  get outcomes(): readonly Outcome[] {
    return this.#outcomes;
  }

  async send(step: string, request: Request): Promise<Outcome> {
    return this.#outcome(step, request, await ask(this.#side.url, toMessage(request, this.#mark(step))));
  }

  together(step: string, requests: readonly Request[]): Promise<readonly Outcome[]> {
    return Promise.all(requests.map((request, index) => this.send(`${step}.${index}`, request)));
  }

  /** One after the other; the number of requests that each engine answered. */
  async spread(step: string, count: number, make: (index: number) => Request): Promise<readonly number[]> {
    const answered = this.#stand.engines.list.map(() => 0);
    for (let index = 0; index < count; index++) {
      const { worker } = await this.send(`${step}.${index}`, make(index));
      if (worker !== null) answered[worker] = (answered[worker] ?? 0) + 1;
    }
    return answered;
  }

  /** Resolves with the engine at which the request waits; null when it was answered without one. */
  async hold(step: string, name: string, request: Request): Promise<number | null> {
    const exchange = start(this.#side.url, toMessage(request, this.#mark(step, this.#holdName(name))));
    this.#held.set(name, { request, step, exchange });
    let ended = false;
    exchange.answer.then(
      () => (ended = true),
      () => (ended = true),
    );
    await until(() => ended || this.#stand.engines.seen(this.side, step).length > 0, `${this.side}: ${name} is held`);
    return this.#stand.engines.seen(this.side, step).at(-1)?.engine ?? null;
  }

  async release(name: string): Promise<Outcome> {
    const held = this.#held.get(name);
    if (held === undefined) throw new Error(`nothing is held as ${name}`);
    this.#held.delete(name);
    this.#stand.engines.release(this.#holdName(name));
    return this.#outcome(held.step, held.request, await held.exchange.answer);
  }

  #mark(step: string, hold = '') {
    return { side: this.side, step, hold };
  }

  #holdName(name: string): string {
    return `${this.#scenario.title}/${name}`.replaceAll(/[^a-z0-9/]/giu, '-');
  }

  #outcome(step: string, request: Request, answer: Answer): Outcome {
    const { engines } = this.#stand;
    const outcome = readOutcome(request, answer, engines.seen(this.side, step), engines.urls);
    this.#outcomes.push(outcome);
    return outcome;
  }
}
