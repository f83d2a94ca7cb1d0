import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../test/support/try-load.ts';
import { KNOWN_FLAGS } from './known-flags.ts';
import { FLAGS } from './names.ts';
import { flagName } from './setting.ts';
import { TABLE } from './settings-table.ts';

/** A value for each later setting that would turn something on. */
const REFUSED: readonly string[] = [
  '--strict-forward-allowlist',
  '--jwt-issuer https://i',
  '--jwt-audience a',
  '--jwt-jwks-uri https://i/keys',
  '--jwt-role-mapping a=admin',
  '--enable-trace',
];

describe('settings of later versions', () => {
  it.each(REFUSED)('%s is refused by name', (flags) => {
    const name = flags.split(' ')[0] ?? '';

    expect(problemsOf({ flags })).toContain(`${name} is not supported by this version yet`);
  });

  it('covers each later setting that can turn something on', () => {
    const tried = new Set(REFUSED.map((flags) => flags.split(' ')[0]));
    const later = TABLE.filter(([, setting]) => setting.later === true).map(([key]) => flagName(key));
    const neverOn = ['--otlp-traces-endpoint'];

    expect(later.filter((flag) => !tried.has(flag)).sort()).toEqual(neverOn.sort());
  });

  it.each([
    [{ file: 'enable_trace: true' }, 'conf.yaml:1:15: enable_trace is not supported by this version yet'],
    [{ env: { SMG_ENABLE_TRACE: 'true' } }, 'SMG_ENABLE_TRACE is not supported by this version yet'],
  ])('other sources are refused alike: %j', (sources, problem) => {
    expect(problemsOf(sources)).toEqual([problem]);
  });

  it.each([
    { flags: '--transport grpc-js --otlp-traces-endpoint localhost:4317' },
    { env: { SMG_PREFILL: '', SMG_DECODE: '', SMG_SELECTOR: '' } },
    { flags: '--enable-trace false --otlp-traces-endpoint collector:4317' },
    { env: { SMG_ENABLE_TRACE: 'false', SMG_SERVICE_DISCOVERY: '0' } },
    { file: 'pd_dispatch: service\ntenant_header: null\ndecode_workers: []' },
  ])('what asks for what already is, is accepted: %j', (sources) => {
    expect(problemsOf(sources)).toEqual([]);
  });

  it('a range error comes instead of the refusal', () => {
    expect(problemsOf({ flags: '--otlp-traces-endpoint h:99999' })).toEqual([
      expect.stringMatching(/^--otlp-traces-endpoint h:99999: expected /),
    ]);
  });

  it('judges only the value that would hold', () => {
    expect(problemsOf({ flags: '--enable-trace false', file: 'enable_trace: true' })).toEqual([]);
  });
});

describe('decisions 42 known flags', () => {
  it('a replacement that does not exist yet is told as such', () => {
    const later = TABLE.filter(([, setting]) => setting.later === true).map(([key]) => flagName(key));
    const hasty = [...KNOWN_FLAGS].filter(
      ([, reason]) =>
        later.some((name) => ` ${reason} `.includes(` ${name} `)) && !reason.includes('in a later version'),
    );

    expect(hasty).toEqual([]);
  });

  it('no flag is both taken over and not', () => {
    expect([...KNOWN_FLAGS.keys()].filter((flag) => FLAGS.has(flag))).toEqual([]);
  });

  it('their keys are refused in the config file, with a word on the replacement', () => {
    expect(problemsOf({ file: 'port: 30000\nredis_url: redis://h' })).toEqual([
      expect.stringMatching(/^conf\.yaml:1:1: port of SMG is not taken over: .*Envoy/),
      expect.stringMatching(/^conf\.yaml:2:1: redis_url of SMG is not taken over: .*--pin-store/),
    ]);
  });

  // The long flags that `smg launch --help` of release 1.11.0 prints.
  it.each(
    `--api-key --assignment-mode --backend --balance-abs-threshold --balance-rel-threshold --balance-token-usage-threshold
    --block-size --bucket-adjust-interval-secs --ca-cert-paths --cache-boundaries --cache-index --cache-match-threshold
    --cache-threshold --cache-ttl-secs --cb-failure-threshold --cb-success-threshold --cb-timeout-duration-secs
    --cb-window-duration-secs --chat-template --client-cert-path --client-key-path --control-plane-api-keys
    --control-plane-audit-enabled --cors-allowed-origins --decode --decode-policy --decode-selector
    --disable-circuit-breaker --disable-health-check --disable-load-monitoring --disable-retries
    --disable-tokenizer-autoload --dp-aware --dp-minimum-tokens-scheduler --enable-igw --enable-mesh --enable-rl
    --enable-trace --enable-wasm --encode --encode-policy --encode-selector --engine-metrics --epd-disaggregation
    --eviction-interval-secs --health-check-endpoint --health-check-interval-secs --health-check-port
    --health-check-timeout-secs --health-failure-threshold --health-success-threshold --history-backend --host
    --job-queue-capacity --job-queue-concurrency --jwt-audience --jwt-issuer --jwt-jwks-uri --jwt-role-mapping
    --kv-connector-annotation --kv-engine-id-annotation --least-load-default-throughput
    --least-load-kv-pressure-weight --least-load-max-waiting-requests --least-load-mean-prefill-tokens
    --load-monitor-interval --log-dir --log-json --log-level --log-mm-timing --max-buffered-request-bytes
    --max-concurrent-requests --max-idle-secs --max-payload-size --max-tree-size --mcp-config-path
    --mesh-advertise-host --mesh-host --mesh-peer-urls --mesh-port --mesh-server-name --mm-per-request-image-limit
    --mm-pixel-cache-mb --mm-pixel-rdma --mm-processing --model --model-alias --model-id-from --model-path
    --multimodal-max-inflight-bytes --multimodal-shm-min-bytes --multimodal-tensor-transport
    --no-remove-unhealthy-workers --no-worker-auto-recovery --oracle-connect-descriptor --oracle-external-auth
    --oracle-password --oracle-pool-max --oracle-pool-min --oracle-pool-timeout-secs --oracle-tns-alias
    --oracle-username --oracle-wallet-path --otlp-traces-endpoint --overlap-decay --overload-token-usage-threshold
    --pd-admission-wait-secs --pd-disaggregation --policy --port --postgres-db-url --postgres-pool-max --prefill
    --prefill-policy --prefill-selector --prefix-hash-balance-abs-threshold --prefix-hash-load-factor
    --prefix-token-count --prometheus-duration-buckets --prometheus-host --prometheus-port --queue-size
    --queue-timeout-secs --rate-limit-tokens-per-second --rdma-listen-ip --rdma-slot-ttl-s --reasoning-parser
    --redis-pool-max --redis-retention-days --redis-url --remove-unhealthy-workers --request-id-headers
    --request-timeout-secs --retry-backoff-multiplier --retry-initial-backoff-ms --retry-jitter-factor
    --retry-max-backoff-ms --retry-max-retries --rl-control-timeout-secs --rl-fanout-concurrency --router-selector
    --routing-key-headers --routing-key-override --schema-config --selection-temperature --selector
    --service-discovery --service-discovery-namespace --service-discovery-port --shutdown-grace-period-secs
    --spill-abs-threshold --spill-rel-threshold --sticky-key-idle-secs --sticky-sessions --storage-context-headers
    --storage-hook-wasm-path --stream-body-stall-timeout-secs --tls-cert-path --tls-key-path
    --tokenizer-cache-enable-l0 --tokenizer-cache-enable-l1 --tokenizer-cache-l0-max-entries
    --tokenizer-cache-l1-max-memory --tokenizer-path --tool-call-parser --upstream-http2
    --upstream-pool-idle-timeout-secs --worker-auto-recovery --worker-overload-protection
    --worker-overload-token-usage --worker-overload-waiting-requests --worker-startup-check-interval
    --worker-startup-delay --worker-startup-timeout-secs --worker-urls --zmq-engine-count`.split(/\s+/),
  )('%s of SMG v1.11 is known', (flag) => {
    expect(FLAGS.has(flag) || KNOWN_FLAGS.has(flag)).toBe(true);
  });
});
