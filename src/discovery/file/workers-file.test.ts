import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWorkersFile } from './workers-file.ts';

const FILE = '/etc/workers.yaml';
const read = (text: string) => readWorkersFile(text, FILE, () => null);

function problemsOf(text: string): readonly string[] {
  const result = read(text);
  return result.ok ? [] : result.problems;
}

describe('the workers of a file', () => {
  it.each([
    ['a YAML list', '- url: http://a:1\n- url: http://b:2\n  models: [{id: m}]\n'],
    ['an object, as in the config file', 'workers:\n  - url: http://a:1\n  - {url: http://b:2, models: [{id: m}]}\n'],
    ['JSON', '{"workers": [{"url": "http://a:1"}, {"url": "http://b:2", "models": [{"id": "m"}]}]}'],
    ['a JSON list', '[{"url": "http://a:1"}, {"url": "http://b:2", "models": [{"id": "m"}]}]'],
  ])('%s', (_, text) => {
    const result = read(text);
    expect(result.ok && result.declared.specs.map(({ url, models }) => [url.id, models])).toEqual([
      ['http://a:1', []],
      ['http://b:2', ['m']],
    ]);
  });

  it('names that stand for several', () => {
    const result = read('- url: dns+http://vllm:8000');
    expect(result.ok && result.declared.pools.map(({ id }) => id)).toEqual(['dns+http://vllm:8000']);
  });

  it.each(['[]', 'workers: []'])('%s is no worker', (text) => {
    expect(read(text)).toEqual({ ok: true, declared: { specs: [], pools: [] } });
  });

  it.each([
    ['nothing', '', [`${FILE}: is empty; write [] for no workers`]],
    ['a comment', '# later\n', [`${FILE}: is empty; write [] for no workers`]],
    ['a text', 'http://a:1', [`${FILE}:1:1: expected a list of workers`]],
    [
      'other keys',
      'policy: random\nworkers: []',
      [`${FILE}:1:1: unknown key policy; a workers file holds workers alone`],
    ],
    ['an object without workers', '{}', [`${FILE}:1:1: expected workers: and a list of workers`]],
    ['workers that are no list', 'workers: 7', [`${FILE}:1:10: expected workers: and a list of workers`]],
    ['no YAML', 'workers: [', [expect.stringMatching(/^\/etc\/workers\.yaml:1:\d+: /)]],
    [
      'a bad URL',
      '- url: http://a:1\n- url: ftp://b',
      [expect.stringMatching(/^\/etc\/workers\.yaml:2:8: url: .*ftp/)],
    ],
    ['a bad name', '- url: dns+https://b', [expect.stringMatching(/^\/etc\/workers\.yaml:1:8: url: .*dns\+http:/)]],
    [
      'an unknown field',
      '- url: http://a\n  modles: []',
      [expect.stringMatching(/^\/etc\/workers\.yaml:2:11: .*modles/)],
    ],
  ])('says where it is wrong: %s', (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it('says where a worker stands that cannot be used here', () => {
    const result = readWorkersFile('- url: http://a:1', FILE, ({ url }) => `${url.id} is not wanted`);
    expect(result).toEqual({ ok: false, problems: [`${FILE}:1:8: http://a:1 is not wanted`] });
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void read(text)));
    fc.assert(fc.property(fc.json(), (text) => void read(text)));
  });
});
