/** Changes of the generated configuration: what an operator's own Envoy may be without. */

/** Envoy's default circuit breakers towards the service: 1,024 requests at once. */
export function defaultBreakers({ static_resources: { clusters } }) {
  const picker = clusters.find(({ name }) => name === 'picker');
  if (picker.circuit_breakers === undefined) throw new Error('no circuit breakers of the picker cluster');
  delete picker.circuit_breakers;
}

/** Envoy ends its streams instead of resetting them, which is its default (envoy 3.2). */
export function gracefulEnds(bootstrap) {
  if (bootstrap.layered_runtime !== undefined) throw new Error('a runtime is there');
  const static_layer = { 'envoy.reloadable_features.ext_proc_graceful_grpc_close': true };
  bootstrap.layered_runtime = { layers: [{ name: 'static', static_layer }] };
}

/** Opens Envoy's admin port, for its counters. */
export function withAdmin(port) {
  return (bootstrap) => {
    bootstrap.admin = { address: { socket_address: { address: '127.0.0.1', port_value: port } } };
  };
}

/** Envoy's counters whose names match, those that are not 0. */
export async function countersOf(port, filter) {
  const answer = await fetch(
    `http://127.0.0.1:${port}/stats?format=json&usedonly&filter=${encodeURIComponent(filter)}`,
  );
  const { stats } = await answer.json();
  return Object.fromEntries(
    stats.filter(({ value }) => typeof value === 'number' && value > 0).map(({ name, value }) => [name, value]),
  );
}
