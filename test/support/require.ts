/** Services that `REQUIRE=envoy,redis,smg,crds` forbids to skip. */
const required = new Set((process.env['REQUIRE'] ?? '').split(',').map((name) => name.trim()));

/** Things a test may do without, unless `REQUIRE` names them. */
export type Requirement = 'envoy' | 'redis' | 'smg' | 'crds';

export function isRequired(service: Requirement): boolean {
  return required.has(service);
}

/**
 * For `describe.skipIf(missing('redis', reason))`: false when there is no reason to skip. Throws instead of skipping when
 * `REQUIRE` names the service.
 */
export function missing(service: Requirement, reason: string | undefined): boolean {
  if (reason === undefined) return false;
  if (required.has(service)) throw new Error(`REQUIRE=${service}: ${reason}`);
  process.stderr.write(`skipped without ${service}: ${reason}\n`);
  return true;
}
