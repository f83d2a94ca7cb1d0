import { describe, expect, it } from 'vitest';
import type { HttpResult } from './http-request.ts';
import { readModels } from './model-probe.ts';

const answer = (body: string, status = 200, complete = true): HttpResult => ({
  kind: 'answer',
  status,
  body: Buffer.from(body),
  complete,
});
const any = { kind: 'any' };

describe('decisions 17, 18 and 37 models of a worker', () => {
  it.each<[string, HttpResult, unknown]>([
    ['one id', answer('{"data":[{"id":"m"}]}'), { kind: 'list', models: ['m'] }],
    ['all ids, once each', answer('{"data":[{"id":"b"},{"id":"a"},{"id":"b"}]}'), { kind: 'list', models: ['b', 'a'] }],
    [
      'entries without an id',
      answer('{"data":[{"id":7},null,"x",{},{"id":""},{"id":"m"}]}'),
      { kind: 'list', models: ['m'] },
    ],
    ['an empty list', answer('{"data":[]}'), any],
    ['no list', answer('{"data":{"id":"m"}}'), any],
    ['no object', answer('[{"id":"m"}]'), any],
    ['null', answer('null'), any],
    ['garbage', answer('<html>'), any],
    ['nothing', answer(''), any],
    ['404', answer('{"data":[{"id":"m"}]}', 404), any],
    ['a redirect', answer('', 302), any],
    ['500', answer('', 500), any],
    ['a body over the bound', answer('', 200, false), any],
    ['no answer in time', { kind: 'timeout' }, any],
    ['a lost connection', { kind: 'failed', reason: 'ECONNRESET' }, { kind: 'unreachable' }],
  ])('%s', (_, result, expected) => {
    expect(readModels(result)).toEqual(expected);
  });
});
