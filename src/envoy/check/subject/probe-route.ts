import type { Route } from './routes.ts';

/** Paths of probes, metrics and administration. */
const PROBE =
  /^\/(?:_?_?health(?:z|_check|check)?|(?:live|ready)(?:z|ness)?|liveness|readiness|startupz?|ping|status|metrics|stats|admin|version)(?:\/.*)?$/i;

/** A route for the requests of probes and operators. */
export function isProbeRoute({ node }: Route): boolean {
  const match = node.get('match');
  const paths = ['path', 'prefix', 'path_separated_prefix'].flatMap((kind) => match.get(kind).text() ?? []);
  return paths.some((path) => PROBE.test(path));
}
