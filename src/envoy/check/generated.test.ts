import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generated, settingsFor } from '../../../test/support/envoy-check.ts';
import { checkEnvoy } from './check-envoy.ts';

function findings(yaml: string, flags: readonly string[]): readonly string[] {
  const { findings, problems } = checkEnvoy([{ name: 'envoy.yaml', text: yaml }], settingsFor(flags));
  return [...problems, ...findings.map(({ trap, message }) => `${trap} ${message}`)];
}

const WORKERS = ['--worker-urls', 'http://10.0.0.1:8000', 'http://[::1]:8000'];
const TWO = ['--picker', '127.0.0.1:9002', '127.0.0.1:9004'];

const DISCOVERY = ['--service-discovery', '--selector', 'app=vllm', '--service-discovery-port', '8000'];
const PD = ['--pd-disaggregation', '--prefill', 'http://10.0.0.1:8000', '--decode', 'http://10.0.0.2:8000'];

/** Settings, and flags of `envoy-config` alone. */
const CASES: readonly (readonly [settings: readonly string[], own?: readonly string[]])[] = [
  [[]],
  [[], ['--fail', 'closed', ...TWO]],
  [[], ['--listen', '0.0.0.0:8080', '--admin-listen', '127.0.0.1:9901']],
  [TWO],
  [['--picker', 'unix:/run/a.sock']],
  [['--picker', 'smg-envoy.default.svc.cluster.local:9002']],
  [['--grpc-socket', '/run/a.sock']],
  [['--envoy-version', '1.36']],
  [['--envoy-version', '1.37']],
  [WORKERS, ['--static-workers']],
  [['--worker-urls', 'http://w1:8000', '--routed-worker-id', 'off'], ['--static-workers']],
  [[...WORKERS, '--disable-health-check'], ['--static-workers']],
  [['--routing-key-override']],
  [['--policy', 'consistent_hashing']],
  [['--policy', 'round_robin']],
  [['--routing-key-sources', 'cookie:sid,agents,headers']],
  [['--disable-retries']],
  [['--retry-on-reset', 'off']],
  [['--retry-max-retries', '1']],
  [['--fallbacks', '0']],
  [['--request-timeout-secs', '600']],
  [['--envoy-body-limit', '65536']],
  [['--envoy-body-limit', '104857600']],
  [['--decision-header', '--dp-aware']],
  [['--destination-header', 'x-destination']],
  [['--routed-worker-id', 'hash']],
  [[], ['--mode', 'ext-proc-full-duplex']],
  [TWO, ['--mode', 'ext-proc-full-duplex']],
  [[], ['--mode', 'ext-authz']],
  [
    ['--policy', 'consistent_hashing'],
    ['--mode', 'ext-authz'],
  ],
  [
    ['--policy', 'round_robin', ...TWO],
    ['--mode', 'ext-authz'],
  ],
  [PD],
  [PD, ['--mode', 'ext-proc-full-duplex']],
  [[...PD, '--pd-dispatch', 'header']],
  [[...PD, '--pd-dispatch', 'mirror']],
  [[...PD, '--pd-dispatch', 'mirror', '--envoy-version', '1.36']],
  [
    [...PD, '--pd-dispatch', 'header'],
    ['--mode', 'ext-authz'],
  ],
  [[], ['--mode', 'istio']],
  [['--routing-key-override'], ['--mode', 'istio']],
  [[], ['--mode', 'envoy-gateway']],
  [DISCOVERY, ['--mode', 'gateway-api']],
];

describe('what envoy-config prints gives no finding', () => {
  it.for(CASES)('%j %j', async ([settings, own = []]) => {
    expect(findings(await generated([...settings, ...own]), settings)).toEqual([]);
  });
});

describe('neither do the files of envoy/', () => {
  const folder = new URL('../../../envoy/', import.meta.url);
  const cases = JSON.parse(readFileSync(new URL('cases.json', folder), 'utf8')) as Record<string, string[]>;
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

  it.each(files)('%s', (name) => {
    const policy = cases[name]?.includes('consistent_hashing') === true ? ['--policy', 'consistent_hashing'] : [];

    expect(findings(readFileSync(new URL(name, folder), 'utf8'), policy)).toEqual([]);
  });
});
