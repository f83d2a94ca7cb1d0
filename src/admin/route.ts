import type { Context } from 'hono';
import type { ApiRole } from '../config/text-types.ts';
import type { Caller } from './bearer-keys.ts';

/** What handlers find in a request's context. */
export interface AdminEnv {
  Variables: {
    /** Null when no keys are configured or the route is open. */
    caller: Caller | null;
  };
}

/** One route of the admin API. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The least role that may use it once keys are configured; `open`: nobody needs a key. */
  readonly access: 'open' | ApiRole;
  readonly handle: (c: Context<AdminEnv>) => Response | Promise<Response>;
}
