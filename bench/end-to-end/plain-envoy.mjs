import { parse, stringify } from 'yaml';

export const ROUND_ROBIN = {
  policies: [
    {
      typed_extension_config: {
        name: 'envoy.load_balancing_policies.round_robin',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
        },
      },
    },
  ],
};

/**
 * The generated configuration without everything that is there for us: filter, access log, service cluster, override. What
 * is left proxies the same requests to the same workers, with the same retries and limits, by round robin.
 *
 * @param yaml output of `envoy-config --static-workers`
 */
export function withoutUs(yaml) {
  const bootstrap = parse(yaml);
  delete bootstrap.dynamic_resources;
  const [listener] = bootstrap.static_resources.listeners;
  const http = listener.filter_chains[0].filters[0].typed_config;
  delete http.access_log;
  delete http.access_log_options;
  http.http_filters = http.http_filters.filter(({ name }) => name !== 'envoy.filters.http.ext_proc');
  const clusters = bootstrap.static_resources.clusters.filter(({ name }) => name === 'workers');
  for (const cluster of clusters) cluster.load_balancing_policy = ROUND_ROBIN;
  bootstrap.static_resources.clusters = clusters;
  return stringify(bootstrap);
}
