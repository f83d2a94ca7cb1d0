import type { LoadReport } from '../engine-load.ts';
import { type HttpResult, isAbsent, isOk } from '../http-request.ts';
import { readJsonLoads } from './read-json-loads.ts';
import { readMetricsLoads } from './read-metrics-loads.ts';

/** Where an engine may tell its load: two native routes, and its Prometheus exposition. */
export type LoadRoute = 'loads' | 'v1_loads' | 'metrics';

/** Longest answer that is read. */
export const LOAD_MAX_BYTES = 4 * 1024 * 1024;

const NATIVE: readonly LoadRoute[] = ['loads', 'v1_loads'];

/** Path and query of a route, in the form in which SMG 1.11.0 is seen to ask. */
export function pathOf(route: LoadRoute, model: string): string {
  if (route === 'loads') return `/loads?model=${encodeURIComponent(model)}`;
  return route === 'metrics' ? '/metrics' : '/v1/loads?include=core,disagg,queues,memory';
}

/**
 * What is known of the routes of one worker (policies 3.2). A native route that answered is asked from then on; one that
 * showed not to be there is asked no more. The exposition is asked whenever no native route answers.
 */
export class LoadRoutes {
  readonly #absent = new Set<LoadRoute>();
  #answers: LoadRoute | null = null;

  /** Routes to ask, in order, until one brings a report. */
  get order(): readonly LoadRoute[] {
    const native = this.#answers === null ? NATIVE.filter((route) => !this.#absent.has(route)) : [this.#answers];
    return [...native, 'metrics'];
  }

  /**
   * Takes in what a route answered.
   *
   * @param at milliseconds, monotonic
   * @returns the report in it, null when there is none
   */
  answered(
    route: LoadRoute,
    { status, body, complete }: HttpResult & { kind: 'answer' },
    at: number,
  ): LoadReport | null {
    const good = isOk(status) && complete;
    if (route === 'metrics') return good ? readMetricsLoads(body.toString('latin1'), at) : null;
    const loads = good ? readJsonLoads(body.toString('utf8'), at) : isAbsent(status) ? 'foreign' : 'empty';
    if (loads === 'empty') return null;
    if (loads === 'foreign') {
      this.#absent.add(route);
      if (this.#answers === route) this.#answers = null;
      return null;
    }
    this.#answers = route;
    return loads;
  }
}
