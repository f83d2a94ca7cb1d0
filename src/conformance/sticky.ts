import type { Context } from './context.ts';
import { FULL_DUPLEX, type Mode, type Plan, type ResponsePlan } from './plan.ts';

/** Requests of one new key. */
export class StickyKey {
  readonly key: string;
  readonly #context: Context;
  readonly #header: string;

  constructor(context: Context, header: string) {
    this.key = context.requests.unique();
    this.#context = context;
    this.#header = header;
  }

  /** The endpoints that one more request of the key gets. */
  async picks(response: ResponsePlan | null, mode: Mode = FULL_DUPLEX, close: Plan['close'] = 'graceful') {
    const { requests, play } = this.#context;
    const changes = { more: [[this.#header, this.key]] as const, response, mode, close };
    return (await play(requests.plan(`key ${this.key}`, changes))).picks;
  }
}
