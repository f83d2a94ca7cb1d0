// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { describe, expect, it } from 'vitest';
import { rendered } from './fixture.suite.ts';

describe('mode ext-proc-full-duplex', () => {
  const mode = 'ext-proc-full-duplex' as const;

  it('envoy 4.6: sends everything both ways, with the trailers that Envoy then wants, and no override', () => {
    const { extProc } = rendered({ mode });

    expect(extProc.processing_mode).toEqual({
      request_header_mode: 'SEND',
      response_header_mode: 'SEND',
      request_body_mode: 'FULL_DUPLEX_STREAMED',
      response_body_mode: 'FULL_DUPLEX_STREAMED',
      request_trailer_mode: 'SEND',
      response_trailer_mode: 'SEND',
    });
    expect([extProc.allow_mode_override, extProc.allowed_override_modes]).toEqual([undefined, undefined]);
    expect([
      extProc.allow_content_length_header,
      rendered({ mode, envoy: '1.37' }).extProc.allow_content_length_header,
    ]).toEqual([true, undefined]);
  });

  it('endpoint-picker-protocol 2, 3 and 5: forwards subset and served endpoint, takes the pick', () => {
    expect(rendered({ mode }).extProc.metadata_options).toEqual({
      forwarding_namespaces: { untyped: ['envoy.lb.subset_hint', 'envoy.lb', 'picker'] },
      receiving_namespaces: { untyped: ['envoy.lb', 'picker'] },
    });
    expect(rendered({ mode }).vhost.request_headers_to_remove).toContain('x-gateway-destination-endpoint');
    expect(rendered({ mode }).override.override_host_sources).toEqual([
      { metadata: { key: 'envoy.lb', path: [{ key: 'x-gateway-destination-endpoint' }] } },
    ]);
  });

  it('envoy I26 and T10: has the route without retries, and answers 503 without the service, fail-open or not', () => {
    const { vhost } = rendered({ mode });

    expect(vhost.routes.map(({ name }: any) => name)).toEqual(['once', 'all']);
    expect(vhost.routes.map(({ route }: any) => 'retry_policy' in route)).toEqual([false, true]);
    for (const failClosed of [true, false]) {
      const { extProc } = rendered({ mode, failClosed });
      expect(extProc).toMatchObject({
        failure_mode_allow: !failClosed,
        status_on_error: { code: 'ServiceUnavailable' },
      });
    }
  });
});

it('endpoint-picker-protocol 2: forwards the subset in mode ext-proc, too', () => {
  expect(rendered({ mode: 'ext-proc' }).extProc.metadata_options).toEqual({
    forwarding_namespaces: { untyped: ['envoy.lb.subset_hint'] },
    receiving_namespaces: { untyped: ['envoy.lb', 'picker'] },
  });
});

it('envoy 4.6: a service that hangs is noticed by its connection in full duplex, where no message has a time limit', () => {
  const keepalive = (mode: 'ext-proc' | 'ext-proc-full-duplex') => {
    const options = rendered({ mode }).clusters.get('picker').typed_extension_protocol_options;
    const http = options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'].explicit_http_config;
    return http.http2_protocol_options.connection_keepalive;
  };

  expect(keepalive('ext-proc-full-duplex')).toEqual({ interval: '2s', timeout: '3s' });
  expect(keepalive('ext-proc')).toEqual({ interval: '10s', timeout: '3s' });
});
