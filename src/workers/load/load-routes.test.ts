import { describe, expect, it } from 'vitest';
import { type LoadRoute, LoadRoutes, pathOf } from './load-routes.ts';

const REPORT = '{"loads":[{"num_waiting_reqs":7}]}';
const METRICS = 'vllm:kv_cache_usage_perc 0.5\n';

/** What a route answers: a status, or a body with status 200. */
type Given = number | string;

function answered(routes: LoadRoutes, route: LoadRoute, given: Given): boolean {
  const status = typeof given === 'number' ? given : 200;
  const body = Buffer.from(typeof given === 'number' ? '' : given);
  return routes.answered(route, { kind: 'answer', status, body, complete: true }, 0) !== null;
}

/** Polls until `polls` are done; the routes asked in each, with a mark after the one that brought the report. */
function poll(answers: Readonly<Record<LoadRoute, Given>>, polls: number, routes = new LoadRoutes()): string[] {
  return Array.from({ length: polls }, () => {
    let asked = '';
    for (const route of routes.order) {
      asked += ` ${route}`;
      if (answered(routes, route, answers[route])) return `${asked}!`.trim();
    }
    return asked.trim();
  });
}

describe('policies 3.2 sources', () => {
  it('asks as SMG 1.11.0 is seen to ask', () => {
    expect([pathOf('loads', 'org/m+1'), pathOf('v1_loads', 'm'), pathOf('metrics', 'm')]).toEqual([
      '/loads?model=org%2Fm%2B1',
      '/v1/loads?include=core,disagg,queues,memory',
      '/metrics',
    ]);
  });

  it.each([
    { loads: REPORT, v1_loads: REPORT, metrics: METRICS, asked: ['loads!', 'loads!'] },
    { loads: 404, v1_loads: REPORT, metrics: METRICS, asked: ['loads v1_loads!', 'v1_loads!'] },
    { loads: 405, v1_loads: REPORT, metrics: METRICS, asked: ['loads v1_loads!', 'v1_loads!'] },
    { loads: '[]', v1_loads: REPORT, metrics: METRICS, asked: ['loads v1_loads!', 'v1_loads!'] },
    { loads: 500, v1_loads: REPORT, metrics: METRICS, asked: ['loads v1_loads!', 'v1_loads!'] },
    { loads: 404, v1_loads: 501, metrics: METRICS, asked: ['loads v1_loads metrics!', 'metrics!'] },
    { loads: 404, v1_loads: 404, metrics: 404, asked: ['loads v1_loads metrics', 'metrics'] },
    { loads: 403, v1_loads: 404, metrics: 404, asked: ['loads v1_loads metrics', 'loads metrics'] },
    { loads: 500, v1_loads: 503, metrics: METRICS, asked: ['loads v1_loads metrics!', 'loads v1_loads metrics!'] },
    { loads: '{}', v1_loads: 404, metrics: METRICS, asked: ['loads v1_loads metrics!', 'loads metrics!'] },
  ])('/loads $loads, /v1/loads $v1_loads, /metrics $metrics: $asked', ({ asked, ...answers }) => {
    expect(poll(answers, 2)).toEqual(asked);
  });

  it('falls back to the exposition while the route that answered fails, and returns to it', () => {
    const routes = new LoadRoutes();
    const answers = { loads: REPORT, v1_loads: REPORT, metrics: METRICS };
    poll(answers, 1, routes);

    expect(poll({ ...answers, loads: 500 }, 2, routes)).toEqual(['loads metrics!', 'loads metrics!']);
    expect(poll(answers, 1, routes)).toEqual(['loads!']);
  });

  it('looks for another route when the one that answered is gone', () => {
    const routes = new LoadRoutes();
    const answers = { loads: REPORT, v1_loads: REPORT, metrics: METRICS };
    poll(answers, 1, routes);

    expect(poll({ ...answers, loads: 404 }, 2, routes)).toEqual(['loads metrics!', 'v1_loads!']);
  });

  it('takes an answer that is too long to be read as none', () => {
    const cut = { kind: 'answer', status: 200, body: Buffer.alloc(0), complete: false } as const;
    const routes = new LoadRoutes();

    expect([routes.answered('loads', cut, 0), routes.answered('metrics', cut, 0)]).toEqual([null, null]);
    expect(routes.order).toEqual(['loads', 'v1_loads', 'metrics']);
  });
});
