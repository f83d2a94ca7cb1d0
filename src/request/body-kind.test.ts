import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { type BodyKind, bodyKindOf, isGrpcRequest } from './body-kind.ts';

type Headers = [name: string, value: string][];

describe('decisions 20 and 35: whether a body can be read', () => {
  it.each<[string, Headers, BodyKind]>([
    ['no content type', [], 'json'],
    ['empty content type', [['content-type', '']], 'json'],
    ['application/json', [['content-type', 'application/json']], 'json'],
    ['with a charset', [['content-type', 'application/json; charset=utf-8']], 'json'],
    ['with blanks, in any case', [['content-type', 'Application/JSON ;charset=UTF-8']], 'json'],
    ['a +json type', [['content-type', 'application/vnd.api+json']], 'json'],
    ['text/plain', [['content-type', 'text/plain']], 'opaque'],
    ['text/json', [['content-type', 'text/json']], 'opaque'],
    ['application/jsonl', [['content-type', 'application/jsonl']], 'opaque'],
    ['multipart', [['content-type', 'multipart/form-data; boundary=application/json']], 'opaque'],
    ['unreadable content type', [['content-type', 'application/jsön']], 'opaque'],
    ['identity', [['content-encoding', 'Identity']], 'json'],
    ['empty content encoding', [['content-encoding', '']], 'json'],
    ['gzip', [['content-encoding', 'gzip']], 'opaque'],
    ['identity, gzip', [['content-encoding', 'identity, gzip']], 'opaque'],
    ['unreadable content encoding', [['content-encoding', 'é']], 'opaque'],
    [
      'gzip of JSON',
      [
        ['content-type', 'application/json'],
        ['content-encoding', 'gzip'],
      ],
      'opaque',
    ],
    ['upgrade', [['upgrade', 'websocket']], 'tunnel'],
    ['gRPC', [['content-type', 'application/grpc']], 'tunnel'],
    ['gRPC with a codec', [['content-type', 'application/grpc+proto']], 'tunnel'],
    ['gRPC whose codec is JSON', [['content-type', 'application/grpc+json']], 'tunnel'],
  ])('%s', (_title, headers, kind) => {
    expect(bodyKindOf(headOf({ headers }))).toBe(kind);
  });

  it('CONNECT opens a tunnel', () => {
    expect(bodyKindOf(headOf({ method: 'CONNECT', path: '' }))).toBe('tunnel');
  });

  it('nothing follows the end of the stream', () => {
    expect(bodyKindOf(headOf({ endOfStream: true }))).toBe('none');
    expect(bodyKindOf(headOf({ endOfStream: true, headers: [['content-encoding', 'gzip']] }))).toBe('none');
  });
});

describe('decisions 45: a gRPC request, as Envoy tells one', () => {
  it.each<[string | undefined, boolean]>([
    ['application/grpc', true],
    ['application/grpc+proto', true],
    ['application/grpc-web', false],
    ['application/grpcx', false],
    ['application/grpc;charset=utf-8', false],
    ['Application/grpc', false],
    ['application/json', false],
    ['', false],
    [undefined, false],
  ])('%j: %s', (type, expected) => {
    expect(isGrpcRequest(headOf({ headers: type === undefined ? [] : [['content-type', type]] }))).toBe(expected);
  });
});
