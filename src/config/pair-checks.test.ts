import { describe, expect, it } from 'vitest';
import { load, problemsOf } from '../../test/support/try-load.ts';
import { flagWorkers } from './declared-workers.ts';

const P1 = { url: 'http://p:1', worker_type: 'prefill' };
const P2 = { url: 'http://p:2', worker_type: 'prefill' };

describe('policies 7 --prefill URL [port|none]', () => {
  it.each<[words: string, workers: readonly object[]]>([
    ['--prefill http://p:1', [P1]],
    ['--prefill http://p:1 9000', [{ ...P1, bootstrap_port: 9000 }]],
    ['--prefill http://p:1 none', [P1]],
    ['--prefill http://p:1 None', [P1]],
    ['--prefill http://p:1 9000 --prefill http://p:2', [{ ...P1, bootstrap_port: 9000 }, P2]],
    ['--prefill http://p:1 http://p:2 9001', [P1, { ...P2, bootstrap_port: 9001 }]],
    [
      '--decode http://d:1 --decode http://d:2',
      ['http://d:1', 'http://d:2'].map((url) => ({ url, worker_type: 'decode' })),
    ],
    ['--worker-urls http://r:1 --prefill http://p:1', [{ url: 'http://r:1' }, P1]],
  ])('%s', (flags, workers) => {
    expect(flagWorkers(load({ flags: `--pd-disaggregation ${flags}` }).settings)).toEqual(workers);
  });

  it.each([
    ['--prefill 9000', 'a bootstrap port follows a URL'],
    ['--prefill http://p:1 9000 9001', 'a bootstrap port follows a URL'],
    ['--prefill http://p:1 0', 'expected a worker URL, then its bootstrap port (1 to 65535) or none'],
    ['--prefill http://p:1 65536', 'expected a worker URL, then its bootstrap port (1 to 65535) or none'],
    ['--prefill', '--prefill needs a value: expected a worker URL'],
    ['--prefill http://p:1 --decode', '--decode needs a value: expected a worker URL'],
    ['--prefill nowhere', 'expected a worker URL, then its bootstrap port (1 to 65535) or none'],
  ])('%s is refused', (flags, problem) => {
    expect(problemsOf({ flags: `--pd-disaggregation ${flags}` }).join()).toContain(problem);
  });
});

it('decisions 27: one body for both legs cannot name two ranks', () => {
  const flags = '--pd-disaggregation --pd-dispatch mirror';
  expect(problemsOf({ flags: `${flags} --dp-aware` }).join()).toContain('cannot name two ranks');
  expect(problemsOf({ flags })).toEqual([]);
});

describe('interface 4 prefill_workers and decode_workers', () => {
  const file = [
    'pd_disaggregation: true',
    'decode_workers: [{url: "http://d:1"}]',
    'prefill_workers: [{url: "http://p:1", bootstrap_port: 9000}]',
    'workers: [{url: "http://r:1"}, {url: "http://p:2", worker_type: prefill}]',
  ].join('\n');

  it('have the type of their list', () => {
    expect(load({ file }).workers.map(({ value }) => value)).toEqual([
      { url: 'http://d:1', worker_type: 'decode' },
      { ...P1, bootstrap_port: 9000 },
      { url: 'http://r:1' },
      P2,
    ]);
  });

  it.each([
    ['prefill_workers: [{url: "http://p:1"}]', 'conf.yaml:1:1: prefill_workers needs pd_disaggregation: true'],
    [
      'pd_disaggregation: true\ndecode_workers: [{url: "http://p:1", worker_type: prefill}]',
      'conf.yaml:2:51: worker_type prefill: expected decode in decode_workers',
    ],
    ['prefill_workers: 1', 'conf.yaml:1:18: prefill_workers: expected a list of workers, found 1'],
  ])('%s is refused', (text, problem) => {
    expect(problemsOf({ file: text })).toEqual([problem]);
  });

  it.each(['prefill_workers: []', 'decode_workers: []', 'pd_disaggregation: false'])('%s says nothing', (text) => {
    expect(problemsOf({ file: text })).toEqual([]);
  });

  it('are checked as all workers are', () => {
    const checks = { worker: () => [{ path: ['url'], message: 'bad' }] };
    expect(problemsOf({ file: 'pd_disaggregation: true\nprefill_workers: [{url: "x"}]', checks })).toEqual([
      'conf.yaml:2:25: bad',
    ]);
  });
});

describe('what does not go together', () => {
  it.each([
    ['--prefill http://p:1', ['--prefill needs --pd-disaggregation']],
    ['--decode http://d:1', ['--decode needs --pd-disaggregation']],
    [
      '--pd-disaggregation --prefill http://p:1 --decode http://d:1 --prefill-policy power_of_two',
      ['--prefill-policy power_of_two: needs at least two prefill workers, and there is one'],
    ],
    [
      '--pd-disaggregation --prefill http://p:1 --decode http://d:1 --decode-policy power_of_two',
      ['--decode-policy power_of_two: needs at least two decode workers, and there is one'],
    ],
    ['--pd-disaggregation --prefill http://p:1 --decode http://d:1 --policy power_of_two', []],
    ['--pd-disaggregation --prefill-policy power_of_two', []],
    ['--pd-disaggregation', []],
    ['--pd-disaggregation --prefill http://p:1', []],
    ['--pd-disaggregation --decode http://d:1', []],
    ['--prefill-policy random', []],
  ])('%s: %j', (flags, problems) => {
    expect(problemsOf({ flags })).toEqual(problems);
  });

  it.each(['--prefill', '--decode'])('%s: the URL is checked', (flag) => {
    const checks = { workerUrl: (url: string) => (url === 'ftp://x' ? 'no good' : null) };
    expect(problemsOf({ flags: `--pd-disaggregation ${flag} ftp://x`, checks })).toEqual([`${flag}: no good`]);
  });
});
