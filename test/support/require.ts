/** Services and programs that `REQUIRE=envoy,redis,smg,crds,go,nghttp2,chromium` forbids to skip. */
const required = new Set((process.env['REQUIRE'] ?? '').split(',').map((name) => name.trim()));

/**
 * Things a test may do without, unless `REQUIRE` names them. `go` stands for the programs that `test/interop/tools` builds,
 * `nghttp2` for h2load and nghttp.
 */
export type Requirement = 'envoy' | 'redis' | 'smg' | 'crds' | 'go' | 'nghttp2' | 'chromium';

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
