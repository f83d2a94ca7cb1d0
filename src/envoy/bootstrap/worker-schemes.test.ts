// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { envoyConfig } from '../../../test/support/stack.ts';

const HTTP = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-schemes-'));
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), `-----BEGIN ${name}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function rendered(...flags: string[]) {
  const yaml = await envoyConfig(flags.map((flag) => flag.replace('FOLDER', folder)));
  const bootstrap = parse(yaml);
  const [listener] = bootstrap.static_resources.listeners;
  const manager = listener.filter_chains[0].filters[0].typed_config;
  const clusters = new Map<string, any>(
    bootstrap.static_resources.clusters.map((cluster: any) => [cluster.name, cluster]),
  );
  const of = (name: string) => {
    const cluster = clusters.get(name);
    return {
      cluster,
      http: cluster?.typed_extension_protocol_options[HTTP].explicit_http_config,
      tls: cluster?.transport_socket_matches?.[0].transport_socket.typed_config,
    };
  };
  return {
    of,
    clusters,
    routes: manager.route_config.virtual_hosts[0].routes.filter(({ name }: any) => name !== 'once'),
  };
}

describe('decisions 45 what is generated for workers of each scheme', () => {
  it('http:// alone: HTTP/1.1, and nothing of TLS or gRPC', async () => {
    const { of, clusters, routes } = await rendered('--worker-urls', 'http://w:1');
    expect(Object.keys(of('workers').http)).toEqual(['http_protocol_options']);
    expect(of('workers').cluster.transport_socket_matches).toBeUndefined();
    expect([...clusters.keys()]).toEqual(['workers', 'picker']);
    expect(routes.map((route: any) => route.route.cluster)).toEqual(['workers']);
  });

  it('checks workers of the file in the version of HTTP that they speak', async () => {
    const check = async (...flags: string[]) => {
      const { of } = await rendered('--static-workers', '--worker-urls', 'http://w:1', 'grpc://w:2', ...flags);
      return ['workers', 'grpc_workers'].map((name) => of(name).cluster.health_checks[0]);
    };
    const [one, grpc] = await check();
    expect(one.http_health_check).toEqual({ path: '/health' });
    expect(grpc.grpc_health_check).toEqual({});
    const [two] = await check('--upstream-http2');
    expect(two.http_health_check).toEqual({ path: '/health', codec_client_type: 'HTTP2' });
  });

  it.each([[['--worker-urls', 'http://w:1', 'https://w:2']], [['--worker-schemes', 'https']]])(
    '%j: TLS to the endpoints that say so, their names in the certificate',
    async (flags) => {
      const { of } = await rendered(...flags);
      expect(of('workers').cluster.transport_socket_matches[0].match).toEqual({ transport: 'tls' });
      expect(of('workers').tls).toMatchObject({
        auto_host_sni: true,
        auto_sni_san_validation: true,
        common_tls_context: {
          alpn_protocols: ['http/1.1'],
          validation_context: { trusted_ca: { filename: '/etc/ssl/certs/ca-certificates.crt' } },
        },
      });
      expect(of('workers').cluster.transport_socket).toBeUndefined();
    },
  );

  it.each<[string[], object]>([
    [['--ca-cert-paths', 'ca.pem'], { validation_context: { trusted_ca: { filename: 'ca.pem' } } }],
    [
      ['--ca-cert-paths', 'FOLDER/a', 'FOLDER/b'],
      { validation_context: { trusted_ca: { inline_string: '-----BEGIN a\n-----BEGIN b' } } },
    ],
    [
      ['--client-cert-path', 'c.pem', '--client-key-path', 'c.key'],
      { tls_certificates: [{ certificate_chain: { filename: 'c.pem' }, private_key: { filename: 'c.key' } }] },
    ],
    [['--worker-tls-insecure'], { validation_context: { trust_chain_verification: 'ACCEPT_UNTRUSTED' } }],
    [['--upstream-http2'], { alpn_protocols: ['h2'] }],
  ])('%j', async (flags, context) => {
    const { of } = await rendered('--worker-schemes', 'https', ...flags);
    expect(of('workers').tls.common_tls_context).toMatchObject(context);
    expect(of('workers').tls.auto_sni_san_validation).toBe(flags.includes('--worker-tls-insecure') ? undefined : true);
  });

  it('several authorities have to be there', async () => {
    const flags = ['--worker-schemes', 'https', '--ca-cert-paths', 'FOLDER/a', 'FOLDER/none'];
    await expect(rendered(...flags)).rejects.toThrow(/--ca-cert-paths .*\/none: ENOENT/);
  });

  it('--upstream-http2: HTTP/2 to every worker', async () => {
    expect((await rendered('--upstream-http2')).of('workers').http).toEqual({ http2_protocol_options: {} });
  });

  it('grpc://: gRPC requests go to a cluster of their own, by HTTP/2', async () => {
    const { of, routes } = await rendered('--worker-urls', 'http://w:1', 'grpc://w:2');
    expect(routes.map(({ match, route }: any) => [match, route.cluster])).toEqual([
      [{ prefix: '/', grpc: {} }, 'grpc_workers'],
      [{ prefix: '/' }, 'workers'],
    ]);
    expect(of('workers').http).toEqual({ http_protocol_options: { enable_trailers: true } });
    expect(of('grpc_workers').http).toEqual({ http2_protocol_options: {} });
    expect(of('grpc_workers').cluster.transport_socket_matches).toBeUndefined();
    expect(of('grpc_workers').cluster.load_balancing_policy).toEqual(of('workers').cluster.load_balancing_policy);
  });

  it('grpcs://: with TLS and ALPN h2', async () => {
    const { of } = await rendered('--worker-schemes', 'grpcs');
    expect(of('grpc_workers').tls.common_tls_context.alpn_protocols).toEqual(['h2']);
  });

  it('--static-workers: each in its cluster, with what EDS would say of it', async () => {
    const urls = ['http://10.0.0.1:1', 'https://10.0.0.2:2', 'https://w.example:3', 'grpcs://g.example:4'];
    const { of } = await rendered('--static-workers', '--worker-urls', ...urls);
    const endpoints = (name: string) =>
      of(name).cluster.load_assignment.endpoints[0].lb_endpoints.map(({ endpoint, metadata }: any) => [
        endpoint.address.socket_address.port_value,
        endpoint.hostname,
        metadata.filter_metadata['envoy.transport_socket_match'],
      ]);
    expect(endpoints('workers')).toEqual([
      [1, undefined, undefined],
      [2, undefined, { transport: 'tls' }],
      [3, 'w.example', { transport: 'tls' }],
    ]);
    expect(endpoints('grpc_workers')).toEqual([[4, 'g.example', { transport: 'tls' }]]);
    expect(of('grpc_workers').cluster.load_assignment.cluster_name).toBe('grpc_workers');
  });
});
