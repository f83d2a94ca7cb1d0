import { describe, expect, it } from 'vitest';
import { RequestFields } from './request-fields.ts';

type Field = readonly [name: string, value: string];

const METHOD: Field = [':method', 'POST'];
const SCHEME: Field = [':scheme', 'http'];
const PATH: Field = [':path', '/a.B/C'];
const REQUEST = [METHOD, SCHEME, PATH];

function read(fields: readonly Field[], trailers = false, maxBytes = 10_000): RequestFields {
  const read = new RequestFields(maxBytes);
  read.begin(trailers);
  for (const [name, value] of fields) read.field(name, value);
  read.finish();
  return read;
}

describe('RFC 9113 8.3 requests', () => {
  it.each<{ what: string; fields: readonly Field[]; malformed: boolean }>([
    { what: 'the least there is', fields: REQUEST, malformed: false },
    { what: 'in another order', fields: [PATH, METHOD, SCHEME], malformed: false },
    { what: 'without :method', fields: [SCHEME, PATH], malformed: true },
    { what: 'without :scheme', fields: [METHOD, PATH], malformed: true },
    { what: 'without :path', fields: [METHOD, SCHEME], malformed: true },
    { what: 'with an empty :path', fields: [METHOD, SCHEME, [':path', '']], malformed: true },
    { what: 'with :path twice', fields: [...REQUEST, PATH], malformed: true },
    { what: 'with a pseudo-header of an answer', fields: [...REQUEST, [':status', '200']], malformed: true },
    { what: 'with a pseudo-header behind a field', fields: [METHOD, SCHEME, ['a', 'b'], PATH], malformed: true },
    {
      what: 'with the name of a cluster as :authority',
      fields: [...REQUEST, [':authority', 'outbound|9002||picker']],
      malformed: false,
    },
    { what: 'with an upper-case name', fields: [...REQUEST, ['A', 'b']], malformed: true },
    { what: 'with an empty name', fields: [...REQUEST, ['', 'b']], malformed: true },
    { what: 'with a space in a name', fields: [...REQUEST, ['a b', 'c']], malformed: true },
    { what: 'with a colon in a name', fields: [...REQUEST, ['a:b', 'c']], malformed: true },
    { what: 'with a name beyond ASCII', fields: [...REQUEST, ['\u00e4', 'c']], malformed: true },
    { what: 'with bytes beyond ASCII in a value', fields: [...REQUEST, ['a', '\u00e4']], malformed: false },
    { what: 'with a zero in a value', fields: [...REQUEST, ['a', 'b\0c']], malformed: true },
    { what: 'with a line end in a value', fields: [...REQUEST, ['a', 'b\nc']], malformed: true },
    { what: 'with a return in a value', fields: [...REQUEST, ['a', 'b\rc']], malformed: true },
    { what: 'with a space before a value', fields: [...REQUEST, ['a', ' b']], malformed: true },
    { what: 'with a tab behind a value', fields: [...REQUEST, ['a', 'b\t']], malformed: true },
    { what: 'with an empty value', fields: [...REQUEST, ['a', '']], malformed: false },
    { what: 'with te: trailers', fields: [...REQUEST, ['te', 'trailers']], malformed: false },
    { what: 'with another te', fields: [...REQUEST, ['te', 'gzip']], malformed: true },
    ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'].map((name) => ({
      what: `with ${name}`,
      fields: [...REQUEST, [name, 'x'] as const],
      malformed: true,
    })),
    { what: 'with a content-length', fields: [...REQUEST, ['content-length', '12']], malformed: false },
    { what: 'with an empty content-length', fields: [...REQUEST, ['content-length', '']], malformed: true },
    {
      what: 'with a content-length that is no number',
      fields: [...REQUEST, ['content-length', '1x']],
      malformed: true,
    },
    {
      what: 'with two content-lengths',
      fields: [...REQUEST, ['content-length', '1'], ['content-length', '2']],
      malformed: true,
    },
  ])('$what', ({ fields, malformed }) => {
    expect(read(fields).malformed).toBe(malformed);
  });

  it('gives what a call needs', () => {
    const fields = read([
      ...REQUEST,
      ['content-type', 'application/grpc'],
      ['grpc-timeout', '1S'],
      ['grpc-encoding', 'gzip'],
      ['content-length', '7'],
      ['x-other', 'y'],
    ]);

    expect(fields).toMatchObject({
      method: 'POST',
      path: '/a.B/C',
      contentType: 'application/grpc',
      timeout: '1S',
      encoding: 'gzip',
      contentLength: 7,
    });
    expect(fields.list.slice(-2)).toEqual(['x-other', 'y']);
  });

  it('forgets the block before', () => {
    const fields = read([...REQUEST, ['Bad', 'x'], ['content-length', '7']]);
    const { list } = fields;
    fields.begin(false);

    expect(fields).toMatchObject({ method: '', path: '', contentLength: -1, malformed: false });
    expect(fields.list).not.toBe(list);
  });
});

describe('RFC 9113 8.1 trailers', () => {
  it.each<{ what: string; fields: readonly Field[]; malformed: boolean }>([
    { what: 'without a field', fields: [], malformed: false },
    { what: 'with a field', fields: [['grpc-status', '0']], malformed: false },
    { what: 'with a pseudo-header', fields: [PATH], malformed: true },
  ])('$what', ({ fields, malformed }) => {
    expect(read(fields, true).malformed).toBe(malformed);
  });
});

describe('RFC 9113 6.5.2 the size of a list', () => {
  const bytes = REQUEST.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);

  it.each([
    { limit: bytes, tooLarge: false },
    { limit: bytes - 1, tooLarge: true },
  ])('a list of some bytes with a limit of $limit: $tooLarge', ({ limit, tooLarge }) => {
    const fields = read(REQUEST, false, limit);

    expect(fields.tooLarge).toBe(tooLarge);
    // What is missing was dropped by us.
    expect(fields.malformed).toBe(false);
  });
});
