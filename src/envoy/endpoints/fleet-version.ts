import { type EncodedEndpoints, encodeEndpoints, type FleetEndpoints, withoutReplaced } from './fleet-endpoints.ts';

/** The endpoints at one moment, under the name that Envoy repeats in its answer. Immutable. */
export interface FleetVersion {
  readonly number: number;
  /** `version_info`. */
  readonly text: string;
  readonly endpoints: FleetEndpoints;
  readonly encoded: EncodedEndpoints;
}

export function fleetVersion(number: number, endpoints: FleetEndpoints): FleetVersion {
  return { number, text: String(number), endpoints, encoded: encodeEndpoints(endpoints) };
}

/** What a client that holds `held` must be sent on its way to `target`: mostly the target itself. */
export function stepTowards(target: FleetVersion, held: FleetVersion | null): FleetVersion {
  const between = held === null ? null : withoutReplaced(held.endpoints, target.endpoints);
  if (between === null) return target;
  return {
    number: target.number,
    text: `${target.number}-removal`,
    endpoints: between,
    encoded: encodeEndpoints(between),
  };
}
