import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { envoyConfigCommand } from '../../src/cli/commands/envoy-config.ts';
import { runProgram } from '../../src/cli/program.ts';
import { noEnvoy, validateWithEnvoy } from '../support/services.ts';

async function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const shell = { env: {}, out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await runProgram([envoyConfigCommand], ['envoy-config', ...args], shell);
  return { code, out, err };
}

const folder = new URL('../../envoy/', import.meta.url);
const cases = JSON.parse(readFileSync(new URL('cases.json', folder), 'utf8')) as Record<string, string[]>;

const WORKERS = ['--worker-urls', 'http://10.0.0.1:8000', 'http://[::1]:8000'];

const ACCEPTED: Record<string, string[]> = {
  ...cases,
  'three pickers': ['--picker', '127.0.0.1:1', '--picker', '[::1]:2', '--picker', '127.0.0.1:3'],
  'a picker by name': ['--picker', 'smg-envoy.default.svc.cluster.local:9002'],
  'pickers by name and address': ['--picker', 'a.example:1', '--picker', '127.0.0.1:2'],
  'a picker on a socket beside one on TCP': ['--picker', 'unix:/run/a.sock', '--picker', '127.0.0.1:2'],
  'IPv6 listener and admin': ['--listen', '[::1]:8080', '--admin-listen', '[::1]:9901'],
  'static workers': ['--static-workers', ...WORKERS],
  'static workers by name': ['--static-workers', '--worker-urls', 'http://w1:8000', 'http://10.0.0.1:8000'],
  'no stamp': ['--static-workers', ...WORKERS, '--routed-worker-id', 'off'],
  'stamp by hash': ['--static-workers', ...WORKERS, '--routed-worker-id', 'hash'],
  'Envoy 1.36': ['--envoy-version', '1.36'],
  'Envoy 1.40.0': ['--envoy-version', '1.40.0'],
  'no retries': ['--disable-retries'],
  'one attempt': ['--retry-max-retries', '1'],
  'careful retries': ['--retry-on-reset', 'off', '--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '1'],
  'largest retry values': ['--retry-max-retries', '4294967295', '--retry-max-backoff-ms', '4294967295'],
  'request timeout': ['--request-timeout-secs', '4294967295'],
  'smallest body limit': ['--envoy-body-limit', '1'],
  'largest body limit': ['--envoy-body-limit', '1073741824'],
  'decision header': ['--decision-header'],
  'destination header': ['--destination-header', 'X-Destination'],
  ext_authz: ['--mode', 'ext-authz', '--fail', 'closed', '--picker', '127.0.0.1:1', '--picker', '127.0.0.1:2'],
  'ext_authz, every option': ['--mode', 'ext-authz', '--dp-aware', '--decision-header', '--authz-body', 'on'],
  'ext_authz for Envoy 1.36': ['--mode', 'ext-authz', '--envoy-version', '1.36', '--envoy-body-limit', '1'],
  'mirrored prefills': ['--pd-disaggregation', '--pd-dispatch', 'mirror'],
  'mirrored prefills, Envoy 1.36': ['--pd-disaggregation', '--pd-dispatch', 'mirror', '--envoy-version', '1.36'],
  'nothing hidden': ['--policy', 'consistent_hashing'],
};

describe.skipIf(noEnvoy())('Envoy accepts the generated configuration', () => {
  it.for(Object.entries(ACCEPTED))('%s', async ([, args]) => {
    const { code, out, err } = await run(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(await validateWithEnvoy(out)).toBeUndefined();
  });

  it('and would refuse a broken one', async () => {
    const { out } = await run([]);
    expect(await validateWithEnvoy(out.replace('message_timeout', 'mesage_timeout'))).toContain('mesage_timeout');
  });
});

describe('envoy/ holds the output for its documented cases', () => {
  it.each(Object.entries(cases))('%s', async (file, args) => {
    expect((await run(args)).out).toBe(readFileSync(new URL(file, folder), 'utf8'));
  });
});

describe('interface 8: wrong flags', () => {
  it.each([
    [['--mode', 'EXT-PROC'], '--mode EXT-PROC: expected one of ext-proc'],
    [
      ['--mode', 'nope'],
      '--mode nope: expected one of ext-proc, ext-proc-full-duplex, ext-authz, istio, envoy-gateway, gateway-api',
    ],
    [['--authz-body', 'on'], '--authz-body: only with --mode ext-authz'],
    [['--mode', 'istio', '--authz-body', 'on'], '--authz-body: only with --mode ext-authz'],
    [['--namespace', 'llm'], '--namespace: only with --mode istio, envoy-gateway, gateway-api'],
    [['--mode', 'ext-authz', '--gateway', 'a/b'], '--gateway: only with --mode istio, envoy-gateway, gateway-api'],
    [['--mode', 'envoy-gateway', '--gateway-selector', 'a=b'], '--gateway-selector: only with --mode istio'],
    [['--admin-listen', '127.0.0.1:8080'], '--admin-listen 127.0.0.1:8080: expected another address than --listen'],
    [['--mode', 'ext-authz', '--authz-body', 'yes'], '--authz-body yes: expected auto, on, off'],
    [
      ['--tls', '--grpc-socket', '/s'],
      '--tls: a Unix socket has no name; give that of the certificate with --picker-name',
    ],
    [['--picker-ca-path', '/ca'], '--picker-ca-path: only with --tls'],
    [['--tls', '--picker-client-cert-path', '/c'], '--picker-client-cert-path needs --picker-client-key-path'],
    [['--tls', '--picker-client-key-path', '/k'], '--picker-client-key-path needs --picker-client-cert-path'],
    [['--tls', '--picker-secrets-dir', '/s'], '--picker-secrets-dir: needs --picker-ca-path or'],
    [
      ['--tls', '--picker-ca-path', 'ca', '--picker-secrets-dir', '/s'],
      '--picker-ca-path ca: expected an absolute path',
    ],
    [['--tls', '--picker-secret', 'ca'], '--picker-secret ca: needs --tls with the files'],
    [['--mode', 'istio', '--tls'], '--tls: not with --mode istio, where the gateway decides about it'],
    [['--listen', '8080'], '--listen 8080: expected IP:PORT'],
    [['--listen', 'localhost:8080'], '--listen localhost:8080: expected IP:PORT'],
    [['--admin-listen', 'x'], '--admin-listen x: expected IP:PORT'],
    [['--picker', 'here'], '--picker here: expected HOST:PORT'],
    [['--picker', 'unix:/a', '--picker', 'b:1'], '--picker: names and Unix sockets do not go together'],
    [['--grpc-port', '0'], '--grpc-port 0: expected a port, or --picker'],
    [['--fail', 'maybe'], '--fail maybe: expected open or closed'],
    [['--envoy-version', '1.35'], '--envoy-version 1.35: expected 1.36, 1.37, 1.38 or a later 1.x'],
    [['--picker', '10.0.0.1:9002', '--picker', '10.0.0.1:9002'], '--picker 10.0.0.1:9002: expected each replica once'],
    [['--static-workers'], '--static-workers: give workers'],
    [
      ['--static-workers', '--worker-urls', 'dns+http://w:80'],
      '--static-workers dns+http://w:80: expected workers with',
    ],
    [['--mode', 'ext-authz', '--pd-disaggregation'], '--mode ext-authz: expected ext-proc, or --pd-dispatch header'],
    [
      ['--mode', 'ext-proc-full-duplex', '--pd-disaggregation', '--pd-dispatch', 'mirror'],
      '--mode ext-proc-full-duplex: expected ext-proc, for',
    ],
    [
      ['--static-workers', '--pd-disaggregation', '--pd-dispatch', 'mirror', '--decode', 'http://10.0.0.1:8000'],
      '--static-workers: expected workers by EDS',
    ],
    [
      ['--mode', 'istio', '--pd-disaggregation', '--pd-dispatch', 'mirror'],
      '--pd-dispatch mirror: not with --mode istio',
    ],
    [['--unknown'], 'unknown flag --unknown'],
    [['--mode', 'istio', '--listen', '127.0.0.1:80'], '--listen: not with --mode istio'],
    [['--mode', 'istio', '--picker', '127.0.0.1:80'], '--picker: not with --mode istio'],
    [['--mode', 'envoy-gateway', '--static-workers'], '--static-workers: not with --mode envoy-gateway'],
    [['--mode', 'istio', '--namespace', 'A'], '--namespace A: expected a name'],
    [['--mode', 'istio', '--gateway', 'edge'], '--gateway edge: expected NAMESPACE/NAME'],
    [['--mode', 'istio', '--gateway', 'a/b/c'], '--gateway a/b/c: expected NAMESPACE/NAME'],
    [['--mode', 'istio', '--gateway-selector', 'istio'], '--gateway-selector istio: expected key=value'],
    [['--mode', 'istio', '--worker-service', 'vllm'], '--worker-service vllm: expected NAME:PORT'],
    [['--mode', 'istio', '--worker-service', 'vllm:0'], '--worker-service vllm:0: expected NAME:PORT'],
    [['--mode', 'istio', '--routed-worker-id', 'name'], '--routed-worker-id name: expected url or off with Istio'],
    [['--mode', 'gateway-api'], '--mode gateway-api: give the pods of the pool'],
    [['--mode', 'istio', '--worker-schemes', 'grpc'], '--mode istio: only http:// workers'],
    [['--mode', 'envoy-gateway', '--worker-urls', 'https://w:1'], '--mode envoy-gateway: only http:// workers'],
    [['--mode', 'istio', '--control-plane-api-keys', 'a:b:admin:secret'], '--control-plane-api-keys: a secret'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

describe('the picker follows the flags of serve', () => {
  it.each([
    [[], '127.0.0.1:9002'],
    [['--grpc-host', '0.0.0.0', '--grpc-port', '7000'], '127.0.0.1:7000'],
    [['--grpc-host', '::', '--grpc-port', '7000'], '[::1]:7000'],
    [['--grpc-socket', '/run/a.sock'], 'unix:/run/a.sock'],
  ])('%j: %s', async (args, picker) => {
    expect((await run(args)).out).toContain(`Service: ${picker}.`);
  });
});
