import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { load, problemsOf, tryLoad } from '../../test/support/try-load.ts';
import { fileKey } from './setting.ts';
import { TABLE } from './settings-table.ts';

/** Lists in lists, each in the next by its anchor. */
function deepByAliases(levels: number): string {
  const lists = Array.from(
    { length: levels },
    (_, level) => `  - &l${level + 1} ${'['.repeat(15)}*l${level}${']'.repeat(15)}`,
  );
  return `workers:\n  - &l0 [x]\n${lists.join('\n')}`;
}

describe('interface 4 config file', () => {
  it.each(['', '# only a comment\n', '---\n', '{}', 'null'])('may be empty: %j', (file) => {
    expect(problemsOf({ file })).toEqual([]);
  });

  it.each([
    ['polcy: random', 'conf.yaml:1:1: unknown key polcy (did you mean policy?)'],
    ['log_json: true\n\n  \nworker: []', 'conf.yaml:4:1: unknown key worker (did you mean workers?)'],
    ['{log_json: true, zzz: 1}', 'conf.yaml:1:18: unknown key zzz'],
    ['1: 2', 'conf.yaml:1:1: unknown key 1'],
    ['? [a, b]\n: 1', /^conf\.yaml:1:3: unknown key/],
    ['- a\n- b', 'conf.yaml:1:1: expected keys and values, found ["a","b"]'],
    ['just text', 'conf.yaml:1:1: expected keys and values, found just text'],
    ['policy: random\npolicy: manual', /^conf\.yaml:2:1: Map keys must be unique/],
    ['policy: [random', /^conf\.yaml:1:\d+: /],
    ['error_style: *nowhere', 'conf.yaml:1:14: alias *nowhere has no anchor'],
    ['max_pins: "5"', 'conf.yaml:1:11: max_pins: 5: expected a whole number from 1 to 16000000'],
    ['max_pins: 1.5', 'conf.yaml:1:11: max_pins: 1.5: expected a whole number from 1 to 16000000'],
    ['max_pins: .inf', /^conf\.yaml:1:11: max_pins: /],
    ['max_pins:', 'conf.yaml:1:10: max_pins: null: expected a whole number from 1 to 16000000'],
    ['max_pins: {a: 1}', /^conf\.yaml:1:11: max_pins: .* expected a whole number/],
    ['log_json: perhaps', 'conf.yaml:1:11: log_json: perhaps: expected true or false'],
    [
      'worker_urls: http://a:1',
      'conf.yaml:1:14: worker_urls: http://a:1: expected a list of items like [a, b], each a worker URL',
    ],
    ['worker_urls:', 'conf.yaml:1:13: worker_urls: null: expected a list of items like [a, b], each a worker URL'],
    ['log_json: true\n---\nlog_json: false', /^conf\.yaml:2:1: a second YAML document starts here/],
    ['---\nlog_json: true\n---\n', /^conf\.yaml:3:1: a second YAML document starts here/],
    ['workers:', 'conf.yaml:1:9: workers: expected a list of workers, found nothing ([] for none)'],
    ['workers: null', 'conf.yaml:1:10: workers: expected a list of workers, found nothing ([] for none)'],
    ['workers: http://a:1', 'conf.yaml:1:10: workers: expected a list of workers, found http://a:1'],
    ['config: other.yaml', 'conf.yaml:1:1: config cannot be set in the config file itself'],
    ['workers: {url: "http://a:1"}', /^conf\.yaml:1:10: workers: expected a list of workers, found \{/],
    ['policy: {}', /^conf\.yaml:1:1: policy: the key type is missing, expected one of random/],
    ['policy: {type: bogus}', /^conf\.yaml:1:16: policy: bogus: expected one of random/],
    [
      'policy:\n  type: manual\n  asignment_mode: random',
      'conf.yaml:3:3: policy manual has no key asignment_mode (did you mean assignment_mode?)',
    ],
    ['policy: {type: random, assignment_mode: random}', 'conf.yaml:1:24: policy random has no key assignment_mode'],
    ['policy: {type: manual, max_idle_secs: -1}', /^conf\.yaml:1:39: max_idle_secs: -1: expected/],
    ['max_idle_secs: 5\npolicy: {type: manual, max_idle_secs: 6}', /^conf\.yaml:2:39: max_idle_secs was already given/],
  ])('%j', (file, problem) => {
    expect(problemsOf({ file })).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
  });

  it.each([
    ['lists', `workers: ${'['.repeat(150)}${']'.repeat(150)}`],
    ['more lists than the stack takes', `workers: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['lists that do not end', `workers: ${'['.repeat(20_000)}`],
    ['blocks', `workers:\n  ${'- '.repeat(20_000)}x`],
    ['aliases', deepByAliases(10)],
  ])('is refused when it is nested too deeply: %s', (_, file) => {
    expect(problemsOf({ file })).toEqual([expect.stringMatching(/^conf\.yaml:\d+:\d+: is nested too deeply$/)]);
  });

  it('takes a policy by name or as an object', () => {
    expect(load({ file: 'policy: manual' }).settings.policy).toBe('manual');
    expect(load({ file: 'policy: {type: consistent_hashing}' }).settings.policy).toBe('consistent_hashing');
  });

  it('takes words of YAML as they are written', () => {
    const { settings } = load({
      file: 'smg_compat: 1.11\nrouted_worker_id: off\nretry_on_reset: off\ndestination_header: on',
    });

    expect([settings.smgCompat, settings.routedWorkerId, settings.retryOnReset, settings.destinationHeader]).toEqual([
      '1.11',
      'off',
      false,
      'on',
    ]);
  });

  it('takes a list of numbers, also in the object of a policy', () => {
    const file = 'policy: {type: cache_aware, cache_index: hash, cache_boundaries: [16, 64]}';

    expect(load({ file: 'cache_boundaries: [16, 64]' }).settings.cacheBoundaries).toEqual([16, 64]);
    expect(load({ file }).settings.cacheBoundaries).toEqual([16, 64]);
    expect(problemsOf({ file: 'cache_boundaries: [16, "64"]' })).toEqual([
      'conf.yaml:1:24: cache_boundaries: 64: expected a whole number from 1 to 4294967295',
    ]);
  });

  it('follows anchors and aliases', () => {
    const { settings } = load({ file: 'routing_key_headers: &h [x-a]\nrequest_id_headers: *h' });

    expect(settings.requestIdHeaders).toEqual(['x-a']);
  });

  it('does not unfold aliases that grow without bound', () => {
    const lists = [...'bcdefghi'].map((name, index) => `  - &${name} [${`*${'abcdefgh'[index]}, `.repeat(8)}]`);
    const started = performance.now();

    const problems = problemsOf({ file: `workers:\n  - &a [x, x, x, x, x, x, x, x]\n${lists.join('\n')}` });

    expect(problems).toEqual(['conf.yaml:1:1: aliases unfold to more than 10000 values']);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('lets many workers share an anchor', () => {
    const more = Array.from({ length: 500 }, (_, n) => `  - {url: 'http://w-${n}', health: *h}`);
    const { workers } = load({
      file: `workers:\n  - {url: 'http://w', health: &h {timeout_secs: 2}}\n${more.join('\n')}`,
    });

    expect(workers[500]?.value).toEqual({ url: 'http://w-499', health: { timeout_secs: 2 } });
  });
});

describe('interface 6 workers of the config file', () => {
  const file = `workers:
  - url: http://a:1
    name: one
  - url: ftp://b
    health:
      timeout_secs: no
`;

  it('are handed on in order, with their places', () => {
    const { workers } = load({ file });

    expect(workers.map((worker) => worker.value)).toEqual([
      { url: 'http://a:1', name: 'one' },
      { url: 'ftp://b', health: { timeout_secs: 'no' } },
    ]);
    expect(workers[1]?.where()).toBe('conf.yaml:4:5');
    expect(workers[1]?.where(['url'])).toBe('conf.yaml:4:10');
    expect(workers[1]?.where(['health', 'timeout_secs'])).toBe('conf.yaml:6:21');
    expect(workers[1]?.where(['health', 'nothing', 0])).toBe('conf.yaml:6:7');
  });

  it('are judged by the check that is passed in, whose problems get their places', () => {
    const worker = (value: unknown) =>
      JSON.stringify(value).includes('ftp') ? [{ path: ['url'], message: 'url: no such scheme' }] : [];

    expect(problemsOf({ file, checks: { worker } })).toEqual(['conf.yaml:4:10: url: no such scheme']);
  });

  it.each([
    [{ flags: '--worker-urls http://a:1 ftp://b' }, '--worker-urls: ftp://b is no worker'],
    [{ env: { SMG_WORKER_URLS: 'ftp://b' } }, 'SMG_WORKER_URLS: ftp://b is no worker'],
    [{ file: 'worker_urls: [ftp://b]' }, 'conf.yaml:1:14: worker_urls: ftp://b is no worker'],
  ])('so are URLs: %j', (sources, problem) => {
    const workerUrl = (url: string) => (url.startsWith('http:') ? null : `${url} is no worker`);

    expect(problemsOf({ ...sources, checks: { workerUrl } })).toEqual([problem]);
  });
});

describe('cross checks', () => {
  it.each([
    ['--admin-host 0.0.0.0', /^--admin-host 0\.0\.0\.0: .*--control-plane-api-keys.*--admin-insecure/],
    ['--admin-host ::', /^--admin-host ::/],
    ['--admin-host example.org', /^--admin-host example\.org/],
    ['--grpc-socket /s --grpc-port 1', /^--grpc-socket and --grpc-port exclude each other/],
    [
      '--retry-initial-backoff-ms 100 --retry-max-backoff-ms 50',
      /^--retry-max-backoff-ms 50: expected at least --retry-initial-backoff-ms, which is 100/,
    ],
    ['--retry-initial-backoff-ms 40000', /^--retry-max-backoff-ms 30000: expected at least/],
  ])('%s is refused', (flags, problem) => {
    expect(problemsOf({ flags })).toEqual([expect.stringMatching(problem)]);
  });

  it.each([
    [
      '--policy cache_aware --eviction-interval 0',
      /^--eviction-interval 0: policy cache_aware needs an interval above 0/,
    ],
    ['--cache-index hash', /^--cache-index hash: needs --cache-boundaries/],
    [
      '--policy power_of_two --worker-urls http://a:1',
      /^--policy power_of_two: needs at least two workers, and there is one/,
    ],
    ['--tls-cert-path c', /^--tls-cert-path needs --tls-key-path/],
    ['--tls-client-ca-path c', /^--tls-client-ca-path needs --tls-cert-path/],
  ])('%s is refused for that reason too', (flags, problem) => {
    expect(problemsOf({ flags })).toContainEqual(expect.stringMatching(problem));
  });

  it.each([
    { flags: '--policy power_of_two' },
    { flags: '--policy power_of_two --worker-urls http://a:1 http://b:1' },
    { flags: '--policy power_of_two --worker-urls http://a:1', file: 'log_json: true' },
    { flags: '--policy random --worker-urls http://a:1' },
  ])('decisions 19: workers for power_of_two may be still to come: %j', (sources) => {
    expect(problemsOf(sources)).not.toContainEqual(expect.stringMatching(/at least two workers/));
  });

  it('an eviction interval of the policy alone counts for cache_aware', () => {
    const file = 'eviction_interval: 0\npolicy: {type: cache_aware, eviction_interval: 5}';

    expect(problemsOf({ file })).not.toContainEqual(expect.stringMatching(/eviction_interval/));
  });

  it.each([
    '--admin-host 127.0.0.1',
    '--admin-host 127.1.2.3',
    '--admin-host ::1',
    '--admin-host [::1]',
    '--admin-host localhost',
    '--admin-host 0.0.0.0 --admin-insecure',
    '--admin-host 0.0.0.0 --control-plane-api-keys id:name:admin:key',
    '--policy round_robin --eviction-interval 0',
    '--policy manual --eviction-interval 0',
    '--grpc-socket /s',
  ])('%s is fine', (flags) => {
    expect(problemsOf({ flags })).toEqual([]);
  });
});

describe('the loader never throws', () => {
  const keys = TABLE.map(([key]) => fileKey(key));
  const leaf = fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
  const value = fc.oneof(leaf, fc.array(leaf, { maxLength: 4 }), fc.dictionary(fc.string(), leaf, { maxKeys: 4 }));
  const name = fc.oneof(fc.constantFrom(...keys, 'workers', 'prefill_workers', 'port'), fc.string());
  // Half of it spec-like, so that the parser gets past its first token.
  const yamlish = fc
    .array(
      fc.constantFrom(
        'a',
        'policy',
        'workers',
        ':',
        ': ',
        '- ',
        '\n',
        '  ',
        '{',
        '}',
        '[',
        ']',
        '&x ',
        '*x',
        '"',
        "'",
        '|\n',
        '?',
        '!!t ',
        '#',
        '%',
        '---\n',
        '1',
        '\t',
        ',',
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));

  it('on text of any kind', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), yamlish), (file) => judged(file)),
      { numRuns: 500 },
    );
  });

  it('on any YAML made of our keys', () => {
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 6 }), (data) => judged(stringify(data))),
      { numRuns: 500 },
    );
  });

  it('on any words behind any flag', () => {
    const flags = fc.constantFrom(...keys.map((key) => `--${key.replaceAll('_', '-')}`));
    const word = fc.string().map((text) => text.replaceAll(' ', ''));

    fc.assert(
      fc.property(flags, fc.array(word, { maxLength: 3 }), (flag, words) => {
        const result = tryLoad({ flags: [flag, ...words].join(' ') });
        expect(result.ok || result.problems.every((problem) => problem.startsWith('--'))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  function judged(file: string): void {
    const result = tryLoad({ file });
    if (result.ok) return;
    expect(result.problems.length).toBeGreaterThan(0);
    for (const problem of result.problems) expect(problem).toMatch(/^(conf\.yaml:[1-9]\d*:[1-9]\d*: |--)/);
  }
});
