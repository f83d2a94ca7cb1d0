import { describe, expect, it } from 'vitest';
import { type EndpointKind, endpointOf, type RidRule, requestIdPrefix } from './endpoint.ts';

describe('sticky-sessions 2.1 endpoints', () => {
  it.each<[string, EndpointKind, boolean, RidRule]>([
    ['/v1/chat/completions', 'chat', true, 'string'],
    ['/v1/completions', 'completions', true, 'string'],
    ['/v1/messages', 'messages', true, 'string'],
    ['/v1/messages/count_tokens', 'count_tokens', true, 'none'],
    ['/generate', 'generate', true, 'string'],
    ['/v1/embeddings', 'embeddings', true, 'string'],
    ['/v1/classify', 'classify', true, 'string'],
    ['/v1/rerank', 'rerank', true, 'string_or_list'],
    ['/rerank', 'rerank', true, 'string_or_list'],
    ['/v1/responses', 'responses', true, 'none'],
    ['/v1/interactions', 'interactions', true, 'none'],
    ['/v1/audio/transcriptions', 'transcriptions', false, 'none'],
    ['/v1/realtime', 'realtime', false, 'none'],
    ['/v1/realtime/sessions', 'realtime', false, 'none'],
  ])('%s', (path, kind, isJson, rid) => {
    const endpoint = { kind, isJson, rid };

    expect(endpointOf(path)).toEqual(endpoint);
    expect(endpointOf(`${path}?api-version=1&rid=x`)).toEqual(endpoint);
  });

  it.each([
    '',
    '/',
    '*',
    '/v1/models',
    '/v1/chat/completions/',
    '/V1/chat/completions',
    '/v1/responses/resp_1',
    '?/generate',
    '/v1/realtimes',
  ])('%j is no endpoint with a body to read', (path) => {
    expect(endpointOf(path)).toEqual({ kind: 'other', isJson: false, rid: 'none' });
  });
});

describe('sticky-sessions 1.7 prefix of a generated request id', () => {
  it.each([
    ['/v1/chat/completions', 'chatcmpl-'],
    ['/v1/completions', 'cmpl-'],
    ['/generate', 'gnt-'],
    ['/v1/responses', 'resp-'],
    ['/v1/messages', 'msg_'],
    ['/v1/messages/count_tokens', 'req-'],
    ['/v1/embeddings', 'req-'],
    ['/tenant-a/v1/chat/completions', 'chatcmpl-'],
    ['/v1/messages?beta=true', 'msg_'],
    ['/v1/models?x=/generate', 'req-'],
    ['', 'req-'],
  ])('%j -> %s', (path, prefix) => {
    expect(requestIdPrefix(path)).toBe(prefix);
  });
});
