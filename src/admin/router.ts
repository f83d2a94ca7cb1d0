import { isIP } from 'node:net';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Log } from '../telemetry/log.ts';
import type { BearerKeys } from './bearer-keys.ts';
import { errorResponse } from './error-response.ts';
import { refuseLargeBody } from './json-body.ts';
import type { AdminEnv, Route } from './route.ts';

/** An HTTP application of these routes, with the errors and the access rules that all of them share. */
export function createRouter(routes: readonly Route[], keys: BearerKeys, log: Log): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  app.use(commonHeaders);
  app.use(async (c, next) => refuseLargeBody(c.req.header('content-length')) ?? (await next()));

  for (const route of routes) {
    app.on(route.method, route.path, guard(route, keys), (c) => route.handle(c));
  }
  for (const [path, allow] of allowedMethods(routes)) {
    app.all(path, (c) => errorResponse('method_not_allowed', `${c.req.method} is not allowed here`, { allow }));
  }
  app.notFound(() => errorResponse('not_found', 'No such route'));
  app.onError((error, c) => {
    log.error('admin request failed', { error, method: c.req.method, path: c.req.routePath });
    return errorResponse('internal_error', 'The service failed to answer');
  });
  return app;
}

const commonHeaders: MiddlewareHandler<AdminEnv> = async (c, next) => {
  c.set('caller', null);
  await next();
  c.header('cache-control', 'no-store');
  c.header('x-content-type-options', 'nosniff');
};

function guard(route: Route, keys: BearerKeys): MiddlewareHandler<AdminEnv> {
  return async (c, next) => {
    if (route.access !== 'open' && keys.required) {
      const caller = keys.callerOf(c.req.header('authorization'));
      if (caller === null) {
        return errorResponse('unauthorized', 'A bearer key is needed', { 'www-authenticate': 'Bearer' });
      }
      if (route.access === 'admin' && caller.role !== 'admin') {
        return errorResponse('forbidden', 'The key has not the role admin');
      }
      c.set('caller', caller);
    }
    if (route.method !== 'GET' && isForeignPage(c.req.raw.headers)) {
      return errorResponse('forbidden', 'Web pages of another origin may change nothing');
    }
    return next();
  };
}

/**
 * A browser says which page a request comes from: without keys only this keeps foreign pages out. A page whose own name
 * leads here (DNS rebinding) has our host in its origin too, so a name other than `localhost` is foreign.
 */
function isForeignPage(headers: Headers): boolean {
  const origin = headers.get('origin');
  if (origin === null) return false;
  const page = URL.canParse(origin) ? new URL(origin) : null;
  return page === null || page.host !== headers.get('host') || !isAddress(page.hostname);
}

function isAddress(host: string): boolean {
  return host === 'localhost' || isIP(host.replace(/^\[|\]$/g, '')) !== 0;
}

/** `allow` of each path (RFC 9110 15.5.6); HEAD goes with GET. */
function allowedMethods(routes: readonly Route[]): Map<string, string> {
  const allowed = new Map<string, string>();
  for (const { path, method } of routes) {
    const methods = method === 'GET' ? 'GET, HEAD' : method;
    const before = allowed.get(path);
    allowed.set(path, before === undefined ? methods : `${before}, ${methods}`);
  }
  return allowed;
}
