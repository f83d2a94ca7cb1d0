import type { Context } from './context.ts';
import { FULL_DUPLEX, type Mode, type Plan, type ResponsePlan } from './plan.ts';
import { served } from './requests.ts';

const KEYS = 3;
const TURNS = 4;

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

/**
 * Tries whether keys stick at all: the endpoint of a key's first request keeps one place in the lists of its next ones. Which
 * place that must be is for P12.
 */
export async function trySticking(context: Context): Promise<boolean> {
  const { stickyHeader } = context.knowledge;
  if (stickyHeader === null) return false;
  for (let tried = 0; tried < KEYS; tried += 1) {
    const key = new StickyKey(context, stickyHeader);
    const [home] = await key.picks(served(null));
    if (home === undefined) return false;
    const places = new Set<number>();
    for (let turn = 0; turn < TURNS; turn += 1) places.add((await key.picks(served(home))).indexOf(home));
    if (places.size > 1 || places.has(-1)) return false;
  }
  return true;
}
