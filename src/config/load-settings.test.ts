import { describe, expect, it } from 'vitest';
import { load, problemsOf, tryLoad } from '../../test/support/try-load.ts';
import { AppError } from '../util/app-error.ts';
import { loadSettings } from './load-settings.ts';
import { envName, fileKey, flagName } from './setting.ts';
import { type SettingKey, TABLE } from './settings-table.ts';

describe('interface 3 precedence', () => {
  const flags = '--max-pins 1';
  const env = { SMG_MAX_PINS: '2' };
  const file = 'max_pins: 3';

  it.each([
    [{ flags, env, file }, 1, 'flag'],
    [{ env, file }, 2, 'env'],
    [{ file }, 3, 'file'],
    [{ flags, file }, 1, 'flag'],
    [{}, 1_000_000, 'default'],
    [{ defaults: { maxPins: 9 } }, 9, 'default'],
    [{ file, defaults: { maxPins: 9 } }, 3, 'file'],
  ] as const)('%j gives %d from the %s', (sources, value, source) => {
    const loaded = load(sources);

    expect(loaded.settings.maxPins).toBe(value);
    expect(loaded.source('maxPins')).toBe(source);
  });

  it('takes the path of the config file from flag or environment', () => {
    const result = tryLoadFile({ SMG_CONFIG: 'conf.yaml' });

    expect(result.settings.config).toBe('conf.yaml');
    expect(result.settings.logJson).toBe(true);
  });

  it('replaces lists whole instead of joining them', () => {
    const loaded = load({ flags: '--routing-key-headers x-a', file: 'routing_key_headers: [x-b, x-c]' });

    expect(loaded.settings.routingKeyHeaders).toEqual(['x-a']);
  });

  it('answers with frozen settings that hold every available key', () => {
    const { settings } = load({});
    const available = TABLE.filter(([key, setting]) => setting.later !== true && key !== 'routingKeyOrder');

    expect(Object.isFrozen(settings)).toBe(true);
    expect(Object.keys(settings).sort()).toEqual(
      [
        ...available.map(([key]) => key),
        'policyAssignmentMode',
        'policyEvictionInterval',
        'removeUnhealthyPods',
      ].sort(),
    );
  });
});

describe('interface 3, policies 7, decisions 12, 16, 17, 31, 43 defaults', () => {
  it.each([
    ['policy', 'cache_aware'],
    ['routingKeyOverride', false],
    ['routingKeyHeaders', ['x-smg-routing-key']],
    ['routingKeySources', ['rid', 'headers']],
    ['assignmentMode', null],
    ['maxIdleSecs', 14_400],
    ['evictionInterval', 120],
    ['pinStore', 'memory'],
    ['pinStoreUsername', null],
    ['pinStorePasswordFile', null],
    ['pinStoreCaPath', null],
    ['pinStorePrefix', 'smg-envoy'],
    ['pinClaimTimeoutMs', 50],
    ['maxPins', 1_000_000],
    ['pinInflightCap', 2],
    ['implicitKeys', ['authorization', 'x-forwarded-for', 'cookie']],
    ['serviceDiscovery', false],
    ['serviceDiscoveryNamespace', null],
    ['serviceDiscoveryPort', 80],
    ['selector', []],
    ['modelIdFrom', null],
    ['workersFile', null],
    ['removeUnhealthyPods', false],
    ['smgCompat', '1.11'],
    ['fallbacks', 2],
    ['destinationHeader', 'auto'],
    ['envoyBodyLimit', 16_777_216],
    ['maxPayloadSize', 67_108_864],
    ['maxBufferedRequestBytes', 1_048_576],
    ['routedWorkerId', 'url'],
    ['errorStyle', null],
    ['retryMaxRetries', 5],
    ['retryInitialBackoffMs', 50],
    ['retryMaxBackoffMs', 30_000],
    ['retryBackoffMultiplier', 1.5],
    ['retryJitterFactor', 0.2],
    ['disableRetries', false],
    ['retryOnReset', true],
    ['requestTimeoutSecs', 1800],
    ['healthFailureThreshold', 3],
    ['healthSuccessThreshold', 2],
    ['healthCheckTimeoutSecs', 5],
    ['healthCheckIntervalSecs', 60],
    ['healthCheckEndpoint', '/health'],
    ['disableHealthCheck', false],
    ['removeUnhealthyWorkers', false],
    ['drainSettleSecs', 5],
    ['drainDeadlineSecs', 3600],
    ['workerStartupCheckInterval', 1],
    ['requestIdHeaders', ['x-request-id', 'x-correlation-id', 'x-trace-id', 'request-id']],
    ['decisionHeader', false],
    ['grpcHost', '127.0.0.1'],
    ['grpcPort', 9002],
    ['grpcSocket', null],
    ['adminHost', '127.0.0.1'],
    ['adminPort', 9003],
    ['adminInsecure', false],
    ['controlPlaneApiKeys', []],
    ['prometheusHost', '127.0.0.1'],
    ['prometheusPort', null],
    ['config', null],
    ['transport', 'http2'],
    ['logLevel', 'info'],
    ['logJson', false],
    ['shutdownGracePeriodSecs', 180],
    ['workerUrls', []],
  ] as const)('%s is %j', (key, value) => {
    expect(load({}).settings[key]).toEqual(value);
  });

  it.each(TABLE.map(([key, setting]) => [key, setting] as const))(
    'the default of %s is a value it allows',
    (_, setting) => {
      const written = setting.type.fromWords([setting.type.show(setting.default)]);

      if (setting.default !== null && setting.type.arity !== 'many') {
        expect(setting.type.schema.parse(written)).toEqual(setting.default);
      }
    },
  );
});

describe('names', () => {
  it('follow from the key of the table', () => {
    expect([flagName('maxIdleSecs'), envName('maxIdleSecs'), fileKey('maxIdleSecs')]).toEqual([
      '--max-idle-secs',
      'SMG_MAX_IDLE_SECS',
      'max_idle_secs',
    ]);
  });

  it.each([
    ['--sticky-sessions', 'routingKeyOverride', true],
    ['--sticky-key-idle-secs 7', 'maxIdleSecs', 7],
    ['--eviction-interval-secs 7', 'evictionInterval', 7],
    ['--worker-auto-recovery', 'removeUnhealthyWorkers', true],
    ['--no-remove-unhealthy-workers', 'removeUnhealthyWorkers', false],
    ['--no-worker-auto-recovery', 'removeUnhealthyWorkers', false],
    ['--destination-header X-Dest', 'destinationHeader', 'x-dest'],
  ] as const)('%s sets %s', (flags, key: SettingKey, value) => {
    const loaded = load({ flags });

    expect(loaded.settings[key as 'maxIdleSecs']).toBe(value);
    expect(loaded.source(key)).toBe('flag');
  });

  it.each([
    [{ SMG_STICKY_SESSIONS: 'true' }, ''],
    [{}, 'sticky_sessions: true'],
  ])('aliases work in the environment and in the file: %j %s', (env, file) => {
    expect(load({ env, file }).settings.routingKeyOverride).toBe(true);
  });

  it.each([
    [
      { flags: '--max-idle-secs 1 --sticky-key-idle-secs 2' },
      /--max-idle-secs 1 and --sticky-key-idle-secs 2 contradict/,
    ],
    [{ flags: '--policy random --policy manual' }, /--policy random and --policy manual contradict/],
    [{ flags: '--remove-unhealthy-workers --no-remove-unhealthy-workers' }, /contradict/],
    [
      { env: { SMG_MAX_IDLE_SECS: '1', SMG_STICKY_KEY_IDLE_SECS: '2' } },
      /SMG_MAX_IDLE_SECS and SMG_STICKY_KEY_IDLE_SECS contradict/,
    ],
    [
      { file: 'max_idle_secs: 1\nsticky_key_idle_secs: 2' },
      /conf\.yaml:2:23: max_idle_secs was already given at conf\.yaml:1:16/,
    ],
  ])('two names of one setting must agree: %j', (sources, problem) => {
    expect(problemsOf(sources)).toEqual([expect.stringMatching(problem)]);
  });

  it('lets two names say the same', () => {
    expect(load({ flags: '--max-idle-secs 5 --sticky-key-idle-secs 5' }).settings.maxIdleSecs).toBe(5);
  });
});

describe('interface 3 lists', () => {
  it.each([
    ['--worker-urls http://a:1 http://b:1', ['http://a:1', 'http://b:1']],
    ['--worker-urls http://a:1 --log-json --worker-urls http://b:1', ['http://a:1', 'http://b:1']],
    ['--worker-urls', []],
  ])('%s', (flags, expected) => {
    expect(load({ flags }).settings.workerUrls).toEqual(expected);
  });

  it.each([[{ flags: '--routing-key-headers' }], [{ file: 'routing_key_headers: []' }]])(
    'an empty list of routing key headers means no header key (sticky-sessions 1.3): %j',
    (sources) => {
      expect(load(sources).settings.routingKeyHeaders).toEqual([]);
    },
  );

  it.each([
    [{ flags: '--implicit-keys' }],
    [{ flags: '--implicit-keys none' }],
    [{ env: { SMG_IMPLICIT_KEYS: 'none' } }],
    [{ file: 'implicit_keys: none' }],
    [{ file: 'implicit_keys: []' }],
  ])('implicit keys can be switched off (decisions 4): %j', (sources) => {
    expect(load(sources).settings.implicitKeys).toEqual([]);
  });

  it('separates items by blanks in the environment', () => {
    expect(load({ env: { SMG_ROUTING_KEY_HEADERS: ' X-A  x-b\n' } }).settings.routingKeyHeaders).toEqual([
      'x-a',
      'x-b',
    ]);
  });
});

describe('decisions 39 key order', () => {
  it.each([
    ['--routing-key-order rid-first', ['rid', 'headers']],
    ['--routing-key-order header-first', ['headers', 'rid']],
    ['--routing-key-order header-only', ['headers']],
    ['--routing-key-sources headers,rid', ['headers', 'rid']],
    ['--routing-key-sources headers rid', ['headers', 'rid']],
    ['--routing-key-sources headers', ['headers']],
    ['--routing-key-sources rid', ['rid']],
    [
      '--routing-key-sources agents,cookie:sid query:k,body:/metadata/user_id opening',
      ['agents', 'cookie:sid', 'query:k', 'body:/metadata/user_id', 'opening'],
    ],
  ])('%s', (flags, expected) => {
    expect(load({ flags }).settings.routingKeySources).toEqual(expected);
  });

  it.each([
    [{ flags: '--routing-key-order rid-first --routing-key-sources headers' }],
    [{ flags: '--routing-key-order rid-first', file: 'routing_key_sources: [headers]' }],
  ])('both together are an error: %j', (sources) => {
    expect(problemsOf(sources)).toEqual([expect.stringMatching(/routing-key-order and .*routing.key.sources/)]);
  });
});

describe('decisions 16 shared settings', () => {
  it.each([
    [{}, null, null],
    [{ flags: '--assignment-mode min_load' }, 'min_load', 'min_load'],
    [{ file: 'assignment_mode: min_load' }, 'min_load', 'min_load'],
    [{ file: 'policy: {type: manual, assignment_mode: random}' }, null, 'random'],
    [{ file: 'policy: {type: manual, assignment_mode: random}\nassignment_mode: min_load' }, 'min_load', 'random'],
    [
      { file: 'policy: {type: manual, assignment_mode: random}', flags: '--assignment-mode min_group' },
      'min_group',
      'min_group',
    ],
  ])('%j: override %s, policy %s', (sources, ofOverride, ofPolicy) => {
    const { settings } = load(sources);

    expect([settings.assignmentMode, settings.policyAssignmentMode]).toEqual([ofOverride, ofPolicy]);
  });

  it('sets the sweep interval apart too', () => {
    const { settings } = load({ file: 'policy: {type: manual, eviction_interval: 7, max_idle_secs: 9}' });

    expect([settings.evictionInterval, settings.policyEvictionInterval, settings.maxIdleSecs]).toEqual([120, 7, 9]);
  });
});

describe('decisions 44 environment', () => {
  it('ignores the address of a Kubernetes service in a port variable, with a warning', () => {
    const loaded = load({ env: { SMG_GRPC_PORT: 'tcp://10.0.0.1:9002' } });

    expect(loaded.settings.grpcPort).toBe(9002);
    expect(loaded.source('grpcPort')).toBe('default');
    expect(loaded.warnings).toEqual([expect.stringContaining('SMG_GRPC_PORT=tcp://10.0.0.1:9002')]);
  });

  it('ignores unknown and empty variables', () => {
    const loaded = load({ env: { SMG_WHATEVER: 'x', SMG_PORT: 'tcp://10.0.0.1:1', SMG_MAX_PINS: '' } });

    expect(loaded.warnings).toEqual([]);
    expect(loaded.source('maxPins')).toBe('default');
  });

  it.each([
    ['true', true],
    ['1', true],
    ['on', true],
    ['YES', true],
    ['false', false],
    ['0', false],
    ['off', false],
    ['no', false],
  ])('reads %s as %s', (word, value) => {
    expect(load({ env: { SMG_ROUTING_KEY_OVERRIDE: word } }).settings.routingKeyOverride).toBe(value);
    expect(load({ flags: `--routing-key-override ${word}` }).settings.routingKeyOverride).toBe(value);
  });
});

describe('messages', () => {
  it.each([
    [{ flags: '--fallbacks x' }, '--fallbacks x: expected a whole number from 0 to 100'],
    [{ env: { SMG_FALLBACKS: 'x' } }, 'SMG_FALLBACKS=x: expected a whole number from 0 to 100'],
    [{ file: 'log_json: true\nfallbacks: x' }, 'conf.yaml:2:12: fallbacks: x: expected a whole number from 0 to 100'],
    [{ flags: '--fallbacks' }, '--fallbacks needs a value: expected a whole number from 0 to 100'],
    [{ flags: '--no-remove-unhealthy-workers yes' }, '--no-remove-unhealthy-workers takes no value'],
    [{ flags: '--routing-key-headers ok bad:name' }, '--routing-key-headers bad:name: expected a header name'],
    [
      { file: 'routing_key_headers:\n  - ok\n  - bad name' },
      'conf.yaml:3:5: routing_key_headers: "bad name": expected a header name',
    ],
    [{ file: "routing_key_headers: ['']" }, 'conf.yaml:1:23: routing_key_headers: "": expected a header name'],
    [{ file: 'policy: [a]' }, /^conf\.yaml:1:9: policy: .*\[\\"a\\"\].*: expected one of random, round_robin/],
  ])('%j', (sources, problem) => {
    expect(problemsOf(sources)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it('reports everything that is wrong at once', () => {
    const problems = problemsOf({
      flags: '--fallbacks x --max-pins 0',
      env: { SMG_LOG_LEVEL: 'loud' },
      file: 'grpc_port: 70000\nnonsense: 1',
    });

    expect(problems).toHaveLength(5);
  });

  it('throws them as one AppError with exit code 2', () => {
    const input = { flags: [], env: { SMG_FALLBACKS: 'x', SMG_MAX_PINS: 'y' } };

    expect(() => loadSettings(input)).toThrow(AppError);
    try {
      loadSettings(input);
    } catch (error) {
      expect(AppError.from(error).exitCode).toBe(2);
      expect(AppError.from(error).message.split('\n')).toHaveLength(2);
    }
  });

  it('names a config file that cannot be read', () => {
    const result = tryLoad({ flags: '--config conf.yaml' });
    expect(result.ok).toBe(true);

    expect(() => loadSettings({ flags: [], env: { SMG_CONFIG: '/nowhere/c.yaml' } })).toThrow(
      /--config \/nowhere\/c\.yaml: cannot be read: ENOENT/,
    );
  });

  it.each([
    [{ flags: '--control-plane-api-keys a:b:root:s3cret' }],
    [{ env: { SMG_CONTROL_PLANE_API_KEYS: 'a:b:root:s3cret' } }],
    [{ file: 'control_plane_api_keys: ["a:b:root:s3cret"]' }],
    [{ flags: '--pin-store redis://user:s3cret@host:x' }],
    [{ env: { SMG_PIN_STORE: 'redis://user:s3cret' } }],
    [{ file: 'pin_store: redis+cluster://user:s3cret@host/1' }],
    [{ file: 'pin_store: http://user:s3cret@host' }],
  ])('never repeat a secret: %#', (sources) => {
    const problems = problemsOf(sources);

    expect(problems).toHaveLength(1);
    expect(problems.join('')).not.toContain('s3cret');
  });
});

function tryLoadFile(env: Readonly<Record<string, string>>) {
  return loadSettings({ flags: [], env, readFile: (path) => (path === 'conf.yaml' ? 'log_json: true' : '') });
}
