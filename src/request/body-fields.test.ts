import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyError, type BodyFields, readBody } from './body-fields.ts';
import { endpointOf } from './endpoint.ts';
import { ridKeyOf } from './routing-key.ts';

const CHAT = '/v1/chat/completions';
const STRING_ENDPOINTS = [CHAT, '/v1/completions', '/v1/messages', '/generate', '/v1/embeddings', '/v1/classify'];
const LIST_ENDPOINTS = ['/rerank', '/v1/rerank'];
const HEADER_ONLY_ENDPOINTS = ['/v1/messages/count_tokens', '/v1/responses', '/v1/interactions'];

/** What decides on the key and the model. */
type KeyFields = Pick<BodyFields, 'kind' | 'rid' | 'model'>;

const readWhole = (body: string | Buffer, path = CHAT, complete = true): BodyFields | BodyError =>
  readBody(Buffer.from(body), complete, endpointOf(path));
const fields = (rid: string | null, model = ''): KeyFields => ({ kind: 'fields', rid, model });
const read = (body: string | Buffer, path = CHAT, complete = true): KeyFields | BodyError => {
  const result = readWhole(body, path, complete);
  return result.kind === 'error' ? result : fields(result.rid, result.model);
};
const messageOf = (result: KeyFields | BodyError): string => (result.kind === 'error' ? result.message : '');

describe('sticky-sessions 2.1 body rid', () => {
  describe.each(STRING_ENDPOINTS)('%s', (path) => {
    it.each<[string, string | null]>([
      ['{"rid":"conv_t1"}', 'conv_t1'],
      ['{"model":"m"}', null],
      ['{"rid":null}', null],
      ['{"rid":""}', null],
      ['{"text":["a","b"],"rid":"batch"}', 'batch'],
      ['{"metadata":{"rid":"n"},"extra_body":{"rid":"n"},"messages":[{"rid":"n"}]}', null],
    ])('%s -> %s', (body, rid) => {
      expect(read(body, path)).toMatchObject({ kind: 'fields', rid });
    });

    it.each(['7', '{}', '["a","b"]', 'true', '1.5', '[]'])('"rid": %s is refused', (rid) => {
      expect(read(`{"rid":${rid}}`, path)).toEqual({
        kind: 'error',
        status: 400,
        code: 'json_parse_error',
        message: 'invalid type of member "rid" at byte 7 of the request body: send a string or null',
      });
    });
  });

  describe.each(LIST_ENDPOINTS)('%s', (path) => {
    it.each<[string, string | null]>([
      ['"a_t1"', 'a_t1'],
      ['""', null],
      ['null', null],
      ['[]', null],
      ['[ ]', null],
      ['["a_t1","b"]', 'a_t1'],
      ['["","b"]', null],
      ['[ "a\\u005ft1" , "b]" ]', 'a_t1'],
      ['["a"]', 'a'],
    ])('"rid": %s -> %s', (rid, candidate) => {
      expect(read(`{"rid":${rid}}`, path)).toEqual(fields(candidate));
    });

    it.each(['7', '{}', '[7]', '["a",7]', '["a",null]', '[null]', '[["a"]]', '["a" "b"]', '["a",]', '[,"a"]', '["a"}'])(
      '"rid": %s is refused',
      (rid) => {
        expect(read(`{"rid":${rid}}`, path)).toMatchObject({
          kind: 'error',
          code: 'json_parse_error',
          message:
            'invalid type of member "rid" at byte 7 of the request body: send a string, a list of strings, or null',
        });
      },
    );
  });

  it('rerank ["a_t1","b"] gives the key a', () => {
    const result = read('{"rid":["a_t1","b"]}', '/v1/rerank');

    expect(result.kind === 'fields' && result.rid !== null && ridKeyOf(result.rid)).toBe('a');
  });

  it.each(HEADER_ONLY_ENDPOINTS)('%s ignores rid, whatever it is, and reads the model', (path) => {
    for (const rid of ['"a"', '7', '[1]']) {
      expect(read(`{"rid":${rid},"model":"m","rid":0}`, path)).toEqual(fields(null, 'm'));
    }
  });

  it.each(['/v1/audio/transcriptions', '/v1/realtime', '/v1/models'])('%s has no JSON body to judge', (path) => {
    expect(read('--boundary', path)).toEqual(fields(null));
  });

  it('is not trimmed', () => {
    expect(read('{"rid":" conv_t1 "}')).toEqual(fields(' conv_t1 '));
  });
});

describe('decisions 35: what is no body of a JSON endpoint', () => {
  it.each<[string, string, string]>([
    ['an array', '[1]', 'the request body is no JSON object (byte 0): send an object, such as {"model": "..."}'],
    ['text', ' hello', 'the request body is no JSON object (byte 1): send an object, such as {"model": "..."}'],
    ['a broken member', '{"rid" "a"}', 'invalid JSON at byte 7 of the request body: expected a colon'],
    ['a second object', '{} {}', 'invalid JSON at byte 3 of the request body: expected nothing after the object'],
    [
      'a body that stops',
      '{"rid":"a"',
      'the request body ends at byte 10 within its JSON object: send the whole object',
    ],
    ['blanks', '  ', 'the request body ends at byte 2 within its JSON object: send the whole object'],
    ['rid twice', '{"rid":"a","rid":"a"}', 'duplicate member "rid" at byte 11 of the request body: send it once'],
    [
      'rid twice, null',
      '{"rid":null,"r\\u0069d":null}',
      'duplicate member "rid" at byte 12 of the request body: send it once',
    ],
    [
      'model twice',
      '{"model":"a","model":"b"}',
      'duplicate member "model" at byte 13 of the request body: send it once',
    ],
    [
      'a model of another type',
      '{"model":["m"]}',
      'invalid type of member "model" at byte 9 of the request body: send a string or null',
    ],
    [
      'a literal that is not null',
      '{"rid":nul0}',
      'invalid type of member "rid" at byte 7 of the request body: send a string or null',
    ],
    [
      'half a surrogate pair',
      '{"rid":"\\ud800"}',
      'invalid string in member "rid" at byte 7 of the request body: send valid UTF-8, with control characters escaped and surrogates in pairs',
    ],
  ])('%s', (_title, body, message) => {
    expect(read(body)).toEqual({ kind: 'error', status: 400, code: 'json_parse_error', message });
  });

  it('invalid UTF-8 in a member that is read', () => {
    const body = Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);

    expect(messageOf(read(body))).toContain('invalid string in member "model" at byte 9');
  });

  it('rid twice in a list endpoint', () => {
    expect(messageOf(read('{"rid":["a"],"rid":"b"}', '/rerank'))).toContain('duplicate member "rid" at byte 13');
  });

  it('0 bytes are opaque, not an error', () => {
    expect(read('')).toEqual(fields(null));
    expect(read('', CHAT, false)).toEqual(fields(null));
  });

  it.each(['{"x":tru,"rid":"a"}', '{"x":[1,,],"rid":"a"}', '{"x":"\\q","rid":"a"}', '{"x":01,"x":2,"rid":"a"}'])(
    'leaves the inside of other members to the worker: %s',
    (body) => {
      expect(read(body)).toEqual(fields('a'));
    },
  );

  it('repeats nothing that the client sent', () => {
    const secret = 'zq9';
    const bodies = [
      secret,
      `{"rid":"${secret}","rid":1}`,
      `{"${secret}"}`,
      `{"model":[${secret}]}`,
      `{"rid":"\\x${secret}"}`,
    ];

    for (const body of bodies) {
      expect(messageOf(read(body))).not.toBe('');
      expect(messageOf(read(body))).not.toContain(secret);
    }
  });
});

describe('model of a body', () => {
  it.each<[string, string]>([
    ['{"model":"llama-3"}', 'llama-3'],
    ['{"model":"org\\/a:b"}', 'org/a:b'],
    ['{"model":""}', ''],
    ['{"model":null}', ''],
    ['{}', ''],
  ])('%s -> %j', (body, model) => {
    expect(read(body)).toEqual(fields(null, model));
  });

  it.each([...STRING_ENDPOINTS, ...LIST_ENDPOINTS])('%s: beside a rid, in any order', (path) => {
    expect(read('{"model":"m","rid":"a"}', path)).toEqual(fields('a', 'm'));
    expect(read('{"rid":"a","model":"m"}', path)).toEqual(fields('a', 'm'));
  });

  it('is found behind 8 MiB of prompt', () => {
    expect(read(`{"messages":"${'x'.repeat(8 << 20)}","model":"m","rid":"a"}`)).toEqual(fields('a', 'm'));
  });
});

describe('stream', () => {
  it.each<[string, boolean | null]>([
    ['{"stream":true}', true],
    ['{"messages":[{"stream":false}],"stream" : true }', true],
    ['{"stream":false}', false],
    ['{"stream":null}', false],
    ['{"stream":"true"}', false],
    ['{"stream":1}', false],
    ['{"stream":tru}', false],
    ['{}', false],
    ['{"messages":[{"stream":true}]}', false],
  ])('of %s is %s', (body, streaming) => {
    expect(readWhole(body)).toMatchObject({ streaming });
  });

  it.each<[string, boolean | null]>([
    ['{"stream":true,"messages":[', true],
    ['{"stream":false,"messages":[', false],
    ['{"messages":[', null],
    ['{"stream":tru', null],
    ['{"stream":true', null],
    ['{"rid":"a"}', false],
  ])('of the beginning %s is %s', (body, streaming) => {
    expect(readWhole(body, CHAT, false)).toMatchObject({ streaming });
  });

  it('is unknown where there is no JSON body', () => {
    expect(readWhole('')).toMatchObject({ streaming: null, members: null });
    expect(readWhole('{"stream":true}', '/v1/audio/transcriptions')).toMatchObject({ streaming: null, members: null });
  });
});

describe('a prefix of a body (decisions 14)', () => {
  it.each<[string, KeyFields]>([
    ['{"rid":"a","model":"m","messages":[{"con', fields('a', 'm')],
    ['{"rid":"a","mod', fields('a')],
    ['{"rid":"conv_t1', fields(null)],
    ['{"rid":7', fields(null)],
    ['{"rid":[1', fields(null)],
    ['{"rid":nul', fields(null)],
    [' ', fields(null)],
    ['{"rid":"a"}', fields('a')],
  ])('%s', (body, expected) => {
    expect(read(body, CHAT, false)).toEqual(expected);
  });

  it.each(['[1', '{"rid":7,', '{"rid":"a","rid":', '{"rid":"a","rid":"b', '{rid', '{"model":{},"x"'])(
    'an error that no continuation mends stays one: %s',
    (body) => {
      expect(read(body, CHAT, false).kind).toBe('error');
    },
  );

  it('never differs from the whole body but by missing members', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    const entry = fc
      .constantFrom('rid', 'model', 'messages', 'prompt')
      .chain((name) => fc.tuple(fc.constant(name), text));
    const body = fc
      .uniqueArray(entry, { selector: ([name]) => name })
      .map((list) => JSON.stringify(Object.fromEntries(list)));

    fc.assert(
      fc.property(body, fc.nat(), (json, at) => {
        const bytes = Buffer.from(json);
        const whole = JSON.parse(json);
        const result = readBody(bytes.subarray(0, at % (bytes.length + 1)), false, endpointOf(CHAT));

        expect(result.kind).toBe('fields');
        if (result.kind !== 'fields') return;
        if (result.rid !== null) expect(result.rid).toBe(whole.rid);
        if (result.model !== '') expect(result.model).toBe(whole.model);
      }),
      { numRuns: 500 },
    );
  });
});
