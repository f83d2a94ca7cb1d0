import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../test/support/try-load.ts';

/** Flag, values that are allowed, values that are not. A value of a later flag that is in range is refused by name. */
const ROWS: readonly (readonly [flag: string, good: readonly string[], bad: readonly string[]])[] = [
  ['--policy', ['random', 'round_robin', 'RoundRobin', 'consistenthashing', 'least_load'], ['robin', '']],
  ['--cache-threshold', ['0', '0.4', '1'], ['-0.1', '1.5', 'x', 'NaN', 'Infinity']],
  ['--cache-match-threshold', ['0.4'], ['1.5']],
  ['--balance-abs-threshold', ['0', '64'], ['-1', '1.5', 'x']],
  ['--spill-abs-threshold', ['5'], ['-1']],
  ['--balance-rel-threshold', ['1', '1.5'], ['0.5', '0.99']],
  ['--spill-rel-threshold', ['2'], ['0.5']],
  ['--balance-token-usage-threshold', ['0.3', '1', '2'], ['0', '-1']],
  ['--overload-token-usage-threshold', ['0.3', '1', '2'], ['0', '-1']],
  ['--overlap-decay', ['0', '3.5'], ['-0.1', 'Infinity']],
  ['--selection-temperature', ['0', '0.5'], ['-0.1', 'Infinity']],
  ['--eviction-interval', ['1', '120'], ['-1', '1.5', '2147484']],
  ['--max-tree-size', ['1'], ['0']],
  ['--block-size', ['1'], ['0']],
  ['--cache-index', ['tree'], ['table']],
  ['--cache-boundaries', ['1', '64,128', '64 128'], ['0', '128,64', '64,64', 'x']],
  ['--cache-ttl-secs', ['1'], ['0']],
  ['--prefix-token-count', ['1'], ['0']],
  ['--prefix-hash-load-factor', ['1', '2'], ['0.5']],
  ['--prefix-hash-balance-abs-threshold', ['0'], ['-1']],
  ['--least-load-kv-pressure-weight', ['0', '2'], ['-1', 'Infinity']],
  ['--least-load-default-throughput', ['0.1'], ['0', '-1']],
  ['--least-load-mean-prefill-tokens', ['1', '4294967295'], ['0', '4294967296']],
  ['--least-load-max-waiting-requests', ['0', '4294967295'], ['-1', '4294967296']],
  ['--max-idle-secs', ['0', '14400'], ['-1']],
  ['--sticky-key-idle-secs', ['0'], ['-1']],
  ['--assignment-mode', ['random', 'min_load', 'min_group', 'delegate'], ['max_load']],
  ['--routing-key-override', ['true'], ['maybe']],
  ['--routing-key-headers', ['x-a', 'X_b~!'], ['a b:c', 'é', 'x(y)', 'x:y']],
  ['--worker-overload-protection', ['true'], ['maybe']],
  ['--worker-overload-waiting-requests', ['1'], ['0']],
  ['--worker-overload-token-usage', ['0.1', '1'], ['0', '1.1']],
  ['--load-monitor-interval', ['1', '10'], ['0']],
  ['--disable-load-monitoring', ['true'], ['maybe']],
  ['--dp-aware', ['true'], ['maybe']],
  ['--pd-disaggregation', ['true'], ['maybe']],
  ['--prefill', ['http://a:1', 'http://a:1 9000', 'http://a:1 none http://b:1'], ['9000', 'http://a:1 9000 9001', 'a']],
  ['--decode', ['http://a:1'], []],
  ['--prefill-policy', ['cache_aware', 'bucket'], ['passthrough', 'x']],
  ['--decode-policy', ['cache_aware'], ['passthrough', 'bucket']],
  ['--pd-pairing-mode', ['off', 'lenient', 'strict'], ['x']],
  ['--model-alias', ['a=b', 'a=b c=d'], ['a', '=b', 'a=', 'a=a']],
  ['--retry-max-retries', ['1', '5'], ['0', '4294967296']],
  ['--retry-initial-backoff-ms', ['1'], ['0']],
  ['--retry-max-backoff-ms', ['50'], ['0', '49']],
  ['--retry-backoff-multiplier', ['1'], ['0.9']],
  ['--retry-jitter-factor', ['0', '1'], ['-0.1', '1.1']],
  ['--cb-failure-threshold', ['1'], ['0']],
  ['--cb-success-threshold', ['1'], ['0']],
  ['--cb-timeout-duration-secs', ['1'], ['0']],
  ['--cb-window-duration-secs', ['1'], ['0']],
  ['--disable-circuit-breaker', ['true'], ['maybe']],
  ['--health-failure-threshold', ['1'], ['0']],
  ['--health-success-threshold', ['1'], ['0']],
  ['--health-check-timeout-secs', ['1'], ['0']],
  ['--health-check-interval-secs', ['1'], ['0']],
  ['--health-check-endpoint', ['/', '/v1/health?x=1'], ['health', '/a b']],
  ['--disable-health-check', ['true', 'false'], ['maybe']],
  ['--remove-unhealthy-workers', ['true', 'false'], ['maybe']],
  ['--drain-settle-secs', ['0'], ['-1']],
  ['--max-buffered-request-bytes', ['0'], ['-1']],
  ['--max-payload-size', ['1'], ['0']],
  ['--request-timeout-secs', ['1'], ['0']],
  // interface 3 and decisions 17, 39, 43
  ['--worker-startup-check-interval', ['1'], ['0']],
  ['--grpc-port', ['0', '65535'], ['-1', '65536', 'x', 'tcp://10.0.0.1:9002']],
  ['--grpc-host', ['0.0.0.0', '::', '[::1]', 'name.example'], ['a/b', 'a:1:x', '']],
  ['--admin-port', ['0'], ['65536']],
  ['--prometheus-port', ['0'], ['65536']],
  [
    '--pin-store',
    ['memory', 'redis://h', 'rediss://h', 'redis+sentinel://h/m', 'redis+cluster://h'],
    ['disk', 'http://h', 'redis://h:x', 'redis+sentinel://h', 'redis+cluster://h/1', 'redis://h?db=1'],
  ],
  ['--pin-store-prefix', ['a', 'team-1:smg.envoy_2'], ['', 'a{b}', 'é', 'x'.repeat(65)]],
  ['--max-pins', ['1', '16000000'], ['0', '16000001']],
  ['--pin-inflight-cap', ['0'], ['-1']],
  ['--routing-key-order', ['rid-first', 'header-first', 'header-only'], ['body-first']],
  [
    '--routing-key-sources',
    ['rid', 'headers,rid', 'agents', 'opening', 'cookie:a', 'query:a', 'body:/a/b', 'body:/~0~1/0'],
    ['', 'rid,rid', 'cookie:', 'cookie:a=b', 'query:', 'body:a', 'body:/~2', 'x'],
  ],
  ['--smg-compat', ['1.11', '1.13'], ['1.12', '1.1']],
  ['--fallbacks', ['0'], ['-1', '101']],
  [
    '--destination-header',
    ['auto', 'off', 'x-dest'],
    ['x dest:', '', 'Host', 'content-type', 'x-smg-routing-key', 'x-request-id'],
  ],
  ['--envoy-body-limit', ['1'], ['0', '1073741825']],
  ['--pd-dispatch', ['service', 'header', 'mirror'], ['x']],
  ['--routed-worker-id', ['url', 'name', 'hash', 'off'], ['id']],
  ['--error-style', ['smg', 'epp'], ['x']],
  ['--retry-on-reset', ['on', 'off'], ['maybe']],
  ['--pin-claim-timeout-ms', ['0'], ['-1']],
  ['--implicit-keys', ['cookie', 'none'], ['a:b']],
  ['--drain-deadline-secs', ['0'], ['-1']],
  ['--transport', ['grpc-js'], ['x']],
  ['--log-level', ['debug', 'info', 'warn', 'error'], ['loud']],
  ['--shutdown-grace-period-secs', ['0'], ['-1', '2147484']],
  ['--service-discovery-port', ['80'], ['65536']],
  ['--service-discovery-namespace', ['default'], ['Not_A_Namespace']],
  ['--selector', ['a=b', 'a=b c=d'], ['a']],
  ['--model-id-from', ['namespace', 'label:x', 'annotation:y'], ['name', 'label:']],
  [
    '--control-plane-api-keys',
    ['a:b:admin:k', 'a:b:user:k:with:colons'],
    ['a:b:c:d', 'a:b:admin', 'a:b:admin:x a:c:user:y'],
  ],
  ['--otlp-traces-endpoint', ['localhost:4317', 'http://h:4317'], ['localhost', 'h:99999']],
  ['--failback', ['as-smg', 'never', 'always'], ['x']],
  ['--pin-load-factor', ['1', '1.25'], ['0.5']],
  ['--tenant-header', ['x-tenant'], ['x:y']],
  ['--jwt-issuer', ['https://issuer'], ['issuer']],
  ['--jwt-role-mapping', ['ops=admin'], ['ops=root']],
];

const LATER = /(is not supported by this version yet|needs --pd-disaggregation|needs --pin-store redis:\/\/…)$/;

describe('policies 7, interface 3 ranges', () => {
  const good = ROWS.flatMap(([flag, values]) => values.map((value) => [flag, value] as const));
  const bad = ROWS.flatMap(([flag, , values]) => values.map((value) => [flag, value] as const));

  it.each(good)('%s %s is in range', (flag, value) => {
    const problems = problemsOf({ flags: `${flag} ${value}` });

    expect(problems.filter((problem) => !LATER.test(problem))).toEqual([]);
  });

  it.each(bad)('%s %s is out of range, and says so before anything else', (flag, value) => {
    const problems = problemsOf({ flags: `${flag} ${value}` });

    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toMatch(LATER);
    expect(problems[0]).toContain(flag);
  });
});
