import type { FleetAdmin } from './fleet-admin.ts';
import { readinessJson, type ServiceState } from './readiness.ts';
import type { Route } from './route.ts';

/** Probes of an orchestrator. They need no key, as those who probe have none. */
export function probeRoutes(fleet: FleetAdmin, state: () => ServiceState): readonly Route[] {
  const liveness = () => new Response('OK');
  const health = () =>
    state().draining ? Response.json({ status: 'not_ready', reason: 'draining' }, { status: 503 }) : liveness();
  const readiness = () => {
    const body = readinessJson(fleet, state());
    return Response.json(body, { status: body.status === 'ready' ? 200 : 503 });
  };
  return [
    { method: 'GET', path: '/health', access: 'open', handle: health },
    { method: 'GET', path: '/liveness', access: 'open', handle: liveness },
    { method: 'GET', path: '/readiness', access: 'open', handle: readiness },
  ];
}
