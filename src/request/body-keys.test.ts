import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xxh3 } from '../util/xxh3.ts';
import { ScannedKeys } from './body-keys.ts';
import { bodyMembersAnd } from './body-members.ts';
import { endpointOf } from './endpoint.ts';
import { JsonPointer } from './json-pointer.ts';
import { scanObject } from './json-scanner.ts';
import { GOES_ON } from './prompt-text.ts';

function opening(path: string, body: unknown): string | null {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return new ScannedKeys(endpointOf(path).kind, scanObject(bytes, bodyMembersAnd(GOES_ON)), null).opening;
}

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const RESPONSES = '/v1/responses';
const user = (content: unknown) => ({ role: 'user', content });
const digest = (text: string): string => xxh3(Buffer.from(text));

describe('field-lessons R32 the opening of a conversation', () => {
  it.each([
    { what: 'a message', path: CHAT, body: { messages: [user('hi')] }, want: 'hi' },
    {
      what: 'the first of the user, whatever stands before it',
      path: CHAT,
      body: {
        messages: [{ role: 'system', content: 'shared' }, user('hi'), { role: 'assistant', content: 'x' }, user('y')],
      },
      want: 'hi',
    },
    {
      what: 'all its text parts',
      path: CHAT,
      body: { messages: [user([{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }])] },
      want: 'a b',
    },
    { what: 'messages', path: MESSAGES, body: { system: 'shared', messages: [user('hi')] }, want: 'hi' },
    {
      what: 'a mark on a part that moves on',
      path: MESSAGES,
      body: { messages: [user([{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }])] },
      want: 'hi',
    },
    { what: 'a count of tokens', path: '/v1/messages/count_tokens', body: { messages: [user('hi')] }, want: 'hi' },
    { what: 'an input that is text', path: RESPONSES, body: { input: 'hi' }, want: 'hi' },
    {
      what: 'items',
      path: RESPONSES,
      body: { input: [{ role: 'developer', content: 'd' }, user([{ type: 'input_text', text: 'hi' }])] },
      want: 'hi',
    },
    {
      what: 'no previous response',
      path: RESPONSES,
      body: { previous_response_id: null, conversation: null, input: 'hi' },
      want: 'hi',
    },
  ])('$what', ({ path, body, want }) => {
    expect(opening(path, body)).toBe(digest(want));
  });

  it.each([
    { what: 'a previous response', path: RESPONSES, body: { previous_response_id: 'resp_1', input: 'and now?' } },
    { what: 'a conversation that the server keeps', path: RESPONSES, body: { conversation: { id: 'c' }, input: 'hi' } },
    { what: 'no message of the user', path: CHAT, body: { messages: [{ role: 'system', content: 's' }] } },
    { what: 'a picture only', path: CHAT, body: { messages: [user([{ type: 'image_url' }]), user('later')] } },
    { what: 'an empty text', path: CHAT, body: { messages: [user('')] } },
    { what: 'no messages', path: CHAT, body: {} },
    { what: 'a prompt', path: '/v1/completions', body: { prompt: 'hi' } },
    { what: 'a text', path: '/generate', body: { text: 'hi' } },
    { what: 'an embedding', path: '/v1/embeddings', body: { input: 'hi' } },
    { what: 'a message that is cut', path: CHAT, body: '{"messages":[{"role":"user","content":"h' },
    { what: 'a message whose role is cut off', path: CHAT, body: '{"messages":[{"content":"hi"' },
    { what: 'an input that is cut', path: RESPONSES, body: '{"input":"h' },
  ])('$what: none', ({ path, body }) => {
    expect(opening(path, body)).toBeNull();
  });

  it('stays the same over the turns, and of a body that is cut behind it', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(text, fc.array(text), fc.nat(), (first, rest, cut) => {
        const messages = [{ role: 'system', content: 's' }, user(first)];
        const later = [
          ...messages,
          ...rest.map((content, i) => (i % 2 ? user(content) : { role: 'assistant', content })),
        ];
        const known = JSON.stringify({ messages }).length;
        const whole = JSON.stringify({ messages: later });

        expect(opening(CHAT, whole)).toBe(digest(first));
        expect(opening(CHAT, Buffer.from(whole.slice(0, known - 1 + (cut % whole.length))).toString())).toBe(
          digest(first),
        );
      }),
    );
  });
});

describe('keys at pointers', () => {
  it('are walked to once, also where there is none', () => {
    const bytes = Buffer.from(JSON.stringify({ metadata: { user: 'u', session: 's' } }));
    const keys = new ScannedKeys('chat', scanObject(bytes, bodyMembersAnd(['metadata'])), null);
    const pointers = ['/metadata/user', '/metadata/session', '/metadata/none'].map((text) => JsonPointer.parse(text)!);
    const all = () => pointers.map((pointer) => keys.at(pointer));
    expect(all()).toEqual(['u', 's', null]);

    bytes.fill(' ');

    expect(all()).toEqual(['u', 's', null]);
  });
});
