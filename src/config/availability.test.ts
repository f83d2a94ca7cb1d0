import { describe, expect, it } from 'vitest';
import { load, problemsOf } from '../../test/support/try-load.ts';
import { KNOWN_FLAGS } from './known-flags.ts';
import { FLAGS } from './names.ts';
import { flagName } from './setting.ts';
import { TABLE } from './settings-table.ts';

/** A value for each later setting that would turn something on. */
const REFUSED: readonly string[] = [
  '--dp-aware',
  '--model-alias a=b',
  '--service-discovery',
  '--service-discovery-namespace ns',
  '--service-discovery-port 8080',
  '--selector a=b',
  '--prefill-selector a=b',
  '--decode-selector a=b',
  '--model-id-from namespace',
  '--pin-claim-timeout-ms 10',
  '--failback never',
  '--pin-load-factor 1.5',
  '--tenant-header x-tenant',
  '--pin-key-hmac-file f',
  '--cache-threshold 0.4',
  '--balance-abs-threshold 1',
  '--balance-rel-threshold 1.1',
  '--balance-token-usage-threshold 0.3',
  '--overload-token-usage-threshold 0.9',
  '--overlap-decay 1',
  '--selection-temperature 1',
  '--max-tree-size 1',
  '--block-size 1',
  '--cache-index hash --cache-boundaries 1',
  '--cache-boundaries 1,2',
  '--cache-ttl-secs 1',
  '--prefix-token-count 1',
  '--prefix-hash-load-factor 2',
  '--prefix-hash-balance-abs-threshold 0',
  '--least-load-kv-pressure-weight 1',
  '--least-load-default-throughput 1',
  '--least-load-mean-prefill-tokens 1',
  '--least-load-max-waiting-requests 1',
  '--worker-overload-protection',
  '--worker-overload-waiting-requests 5',
  '--worker-overload-token-usage 0.7',
  '--worker-overload-shed',
  '--load-monitor-interval 1',
  '--cb-failure-threshold 2',
  '--cb-success-threshold 1',
  '--cb-timeout-duration-secs 2',
  '--pd-disaggregation',
  '--prefill http://a:1 9000',
  '--decode http://a:1',
  '--prefill-policy random',
  '--decode-policy random',
  '--pd-pairing-mode strict',
  '--pd-dispatch header',
  '--strict-forward-allowlist',
  '--test-endpoint-selection',
  '--tls-cert-path c --tls-key-path k',
  '--tls-key-path k --tls-cert-path c',
  '--tls-client-ca-path a --tls-cert-path c --tls-key-path k',
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
    const neverOn = [
      '--disable-load-monitoring',
      '--disable-circuit-breaker',
      '--cb-window-duration-secs',
      '--otlp-traces-endpoint',
    ];

    expect(later.filter((flag) => !tried.has(flag)).sort()).toEqual(neverOn.sort());
  });

  it.each([
    '--policy cache_aware',
    '--policy power_of_two',
    '--policy least_load',
    '--policy prefix_hash',
    '--policy bucket',
    '--pin-store redis://',
    '--smg-compat 1.13',
  ])('%s is refused as a value', (flags) => {
    expect(problemsOf({ flags: flags.replace('redis://', 'redis://user:s3cret@host:1') })).toEqual([
      `${flags} is not supported by this version yet`,
    ]);
  });

  it.each([
    ['--routing-key-sources rid,cookie:sid', 'cookie:sid'],
    ['--routing-key-sources query:k', 'query:k'],
    ['--routing-key-sources rid', 'rid without headers'],
    ['--routing-key-sources headers,body:/user', 'body:/user'],
  ])('%s is refused by its source', (flags, source) => {
    expect(problemsOf({ flags })).toEqual([`--routing-key-sources ${source} is not supported by this version yet`]);
  });

  it.each([
    [{ env: { SMG_POLICY: 'cache_aware' } }, 'SMG_POLICY=cache_aware is not supported by this version yet'],
    [{ file: 'policy: cache_aware' }, 'conf.yaml:1:9: policy: cache_aware is not supported by this version yet'],
    [
      { file: 'policy:\n  type: cache_aware\n  cache_threshold: 0.3' },
      'conf.yaml:2:9: policy: cache_aware is not supported by this version yet',
    ],
    [{ file: 'cache_threshold: 0.4' }, 'conf.yaml:1:18: cache_threshold is not supported by this version yet'],
    [{ env: { SMG_ENABLE_TRACE: 'true' } }, 'SMG_ENABLE_TRACE is not supported by this version yet'],
    [
      { file: 'prefill_workers: [{url: "http://a:1"}]' },
      'conf.yaml:1:1: prefill_workers is not supported by this version yet',
    ],
  ])('other sources are refused alike: %j', (sources, problem) => {
    expect(problemsOf(sources)).toEqual([problem]);
  });

  it.each([
    { flags: '--disable-circuit-breaker' },
    {
      flags: '--disable-circuit-breaker --cb-failure-threshold 2 --cb-success-threshold 1 --cb-timeout-duration-secs 2',
    },
    { flags: '--disable-load-monitoring --load-monitor-interval 1' },
    { flags: '--cb-window-duration-secs 7' },
    { flags: '--pin-store memory --smg-compat 1.11 --failback as-smg --transport grpc-js' },
    { flags: '--cache-threshold 0.3 --cb-failure-threshold 10 --block-size 16' },
    { flags: '--balance-token-usage-threshold 1.5 --overload-token-usage-threshold 1' },
    { flags: '--overlap-decay 0 --selection-temperature 0 --least-load-max-waiting-requests 0' },
    { flags: '--cache-boundaries --model-alias --prefill --decode --selector' },
    { flags: '--enable-trace false --otlp-traces-endpoint collector:4317' },
    { env: { SMG_ENABLE_TRACE: 'false', SMG_SERVICE_DISCOVERY: '0' } },
    { file: 'smg_compat: 1.11\npd_dispatch: service\ntenant_header: null\ndecode_workers: []' },
  ])('what asks for what already is, is accepted: %j', (sources) => {
    expect(problemsOf(sources)).toEqual([]);
  });

  it('a range error comes instead of the refusal', () => {
    expect(problemsOf({ flags: '--cache-threshold 1.5' })).toEqual([
      '--cache-threshold 1.5: expected a number from 0 to 1',
    ]);
  });

  it('judges only the value that would hold', () => {
    expect(load({ flags: '--policy random', file: 'policy: cache_aware' }).settings.policy).toBe('random');
  });
});

describe('what is allowed', () => {
  it.each([
    [
      '--policy bogus',
      'one of random, round_robin, passthrough, consistent_hashing, manual ' +
        '(later: power_of_two, least_load, cache_aware, prefix_hash, bucket)',
    ],
    ['--smg-compat 1.12', '1.11 (later: 1.13)'],
    ['--pin-store disk', 'memory (later: a redis://, rediss://, redis+sentinel:// or redis+cluster:// URL)'],
    ['--routing-key-sources x', 'rid or headers (later: cookie:NAME, query:NAME or body:/json/pointer)'],
  ])('of %s tells what comes later', (flags, allowed) => {
    expect(problemsOf({ flags })).toEqual([`${flags}: expected ${allowed}`]);
  });

  it('marks each setting with values that are refused for now', () => {
    const partly = TABLE.filter(([, { unavailable }]) => unavailable !== undefined);

    expect(partly.filter(([, { type }]) => !type.allowed.includes('(later: ')).map(([key]) => key)).toEqual([]);
  });
});

describe('decisions 42 known flags', () => {
  it('a replacement that does not exist yet is told as such', () => {
    const later = TABLE.filter(([, setting]) => setting.later === true).map(([key]) => flagName(key));
    const missing = [...later, '--pin-store', '--policy least_load'];
    const hasty = [...KNOWN_FLAGS].filter(
      ([, reason]) =>
        missing.some((name) => ` ${reason} `.includes(` ${name} `)) && !reason.includes('in a later version'),
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
