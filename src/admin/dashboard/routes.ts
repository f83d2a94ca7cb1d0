import type { Context } from 'hono';
import { errorResponse } from '../error-response.ts';
import type { AdminEnv, Route } from '../route.ts';
import type { Assets } from './assets.ts';
import { type OverviewParts, overviewJson } from './overview.ts';

export interface DashboardParts extends OverviewParts {
  readonly assets: Assets | null;
  /** Called with each look at the page's numbers. */
  readonly looked: () => void;
  /** Whether reading needs a key. */
  readonly keysNeeded: boolean;
}

/** What the page needs beside that of the other routes. */
export type PageParts = Pick<DashboardParts, 'assets' | 'envoy' | 'looked' | 'series' | 'setUp' | 'tenants'>;

/** Scripts, styles and data of this origin only; nobody may frame the page. Plots size themselves by style properties, which no directive forbids. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page for people, and what it asks for beside the routes for everybody. The page itself holds nothing worth a key, and
 * a browser that opens it has none to send; all it shows comes from routes that need one.
 */
export function dashboardRoutes(parts: DashboardParts): readonly Route[] {
  const { assets, series } = parts;
  const files: readonly Route[] = (assets ?? []).map(({ path, type, bytes }) => ({
    method: 'GET',
    path,
    access: 'open',
    handle: () =>
      new Response(new Uint8Array(bytes), {
        headers: { 'content-type': type, 'content-security-policy': CSP, 'referrer-policy': 'no-referrer' },
      }),
  }));
  const missing: Route = {
    method: 'GET',
    path: '/',
    access: 'open',
    handle: () => errorResponse('not_found', 'The page was not built: npm run build'),
  };
  const overview = (c: Context<AdminEnv>): Response => {
    parts.looked();
    return Response.json(overviewJson(parts, c.get('caller'), parts.keysNeeded, Date.now()));
  };
  return [
    ...(assets === null ? [missing] : files),
    { method: 'GET', path: '/dashboard/overview', access: 'user', handle: overview },
    { method: 'GET', path: '/dashboard/series', access: 'user', handle: () => Response.json(series.read()) },
  ];
}
