import type { Context, Fleet } from './context.ts';

const ROUNDS = 12;
const PICKS = 12;

/** Asks for picks until two rounds have named nothing new. */
export async function discover(context: Context): Promise<Fleet> {
  const { endpoints } = context.knowledge;
  if (endpoints !== null) return { endpoints, given: true };
  const found = new Set<string>();
  let still = 0;
  for (let round = 0; round < ROUNDS && still < 2; round += 1) {
    const before = found.size;
    const plans = Array.from({ length: PICKS }, () => context.requests.plan('a new request', { more: keyOf(context) }));
    for (const outcome of await context.playAll(plans)) for (const pick of outcome.picks) found.add(pick);
    still = found.size === before ? still + 1 : 0;
  }
  return { endpoints: [...found].sort(), given: false };
}

/** Sticky pickers spread keys, others ignore them. */
function keyOf({ knowledge, requests }: Context): readonly (readonly [string, string])[] {
  return knowledge.stickyHeader === null ? [] : [[knowledge.stickyHeader, requests.unique()]];
}

/**
 * Endpoints to name in hints, one request after another. Forwards and back again, so that a picker which ignores the hint and
 * goes round its fleet does not follow by chance.
 */
export function hinted(endpoints: readonly string[]): readonly string[] {
  const some = endpoints.slice(0, 3);
  const round = [...some, ...some.toReversed()];
  return some.length > 2 ? round : [...round, ...round];
}
