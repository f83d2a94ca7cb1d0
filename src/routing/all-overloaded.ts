import type { Pool } from '../workers/snapshot.ts';

/**
 * True when load alone keeps the model from being served, so that the request is shed: every worker of its pool is
 * overloaded. One that is out for another reason makes it an ordinary lack of workers (policies 2.2).
 */
export function allOverloaded({ members }: Pick<Pool, 'members'>): boolean {
  if (members.length === 0) return false;
  for (let i = 0; i < members.length; i++) if (members[i]?.overloaded !== true) return false;
  return true;
}
