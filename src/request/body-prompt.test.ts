import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HeadParts, headOf } from '../../test/support/head.ts';
import { readBody } from './body-fields.ts';
import { BodyPrompt, promptOf } from './body-prompt.ts';
import { endpointOf } from './endpoint.ts';
import { NO_PROMPT, type Prompt } from './prompt.ts';
import type { RequestHead } from './request-head.ts';

const GENERATE = '/generate';
const CHAT = '/v1/chat/completions';

/** @param body null where none is read; text as it is, anything else as JSON */
function read(path: string, body: unknown, hint?: string, length = -1): Prompt {
  const headers: HeadParts['headers'] = hint === undefined ? [] : [['x-smg-routing-tokens', hint]];
  const head = headOf({ path, headers });
  const endpoint = endpointOf(path);
  if (body === null) return promptOf(head, endpoint.kind, null);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const fields = readBody(length < 0 ? bytes : bytes.subarray(0, length), length < 0, endpoint);
  if (fields.kind === 'error') throw new Error(fields.message);
  return promptOf(head, endpoint.kind, fields.members);
}

const ids = (prompt: Prompt): number[] | null => (prompt.tokens === null ? null : [...prompt.tokens]);

describe('policies 6.2 examples: tokens and text', () => {
  it.each<[object, number[] | null, string | null]>([
    [{ input_ids: [1, 2, 3] }, [1, 2, 3], null],
    [{ text: 'hi', input_ids: [5] }, [5], null],
    [{ input_ids: [], text: 'hi' }, null, 'hi'],
    [{ input_ids: [[1, 2], [3]] }, [1, 2], null],
    [{ input_ids: [[], [3]] }, null, '3'],
    [{ text: 'hi' }, null, 'hi'],
    [{ input_ids: [-1] }, [4294967295], null],
  ])('%j', (body, tokens, text) => {
    const prompt = read(GENERATE, body);

    expect(ids(prompt)).toEqual(tokens);
    expect(prompt.text).toBe(text);
  });
});

describe('policies 6.3 header hint', () => {
  it.each<[string, number[] | null]>([
    ['1,2,3', [1, 2, 3]],
    ['1, 2', null],
    ['1,,2', null],
    ['1,2,', null],
    ['-1', null],
    ['4294967296', null],
    ['', null],
    [new Array(513).fill('7').join(), null],
  ])('%s', (hint, tokens) => {
    const chat = read(CHAT, { messages: [{ role: 'user', content: 'hi' }] }, hint);

    expect(ids(chat)).toEqual(tokens);
    expect(chat.text).toBe(tokens === null ? 'hi' : null);
    expect(ids(read(CHAT, null, hint))).toEqual(tokens);
  });

  it('comes before input_ids, which count when it is ignored', () => {
    expect(ids(read(GENERATE, { input_ids: [5] }, '1,2'))).toEqual([1, 2]);
    expect(ids(read(GENERATE, { input_ids: [5] }, '1,,2'))).toEqual([5]);
  });

  it('leaves the cache namespace to the body', () => {
    expect(read(CHAT, { cache_salt: 's' }, '1').namespace).toBe('dce460e9e8bd706a');
  });
});

describe('policies 6.1, 6.3 other endpoints', () => {
  it.each([CHAT, '/v1/completions', '/v1/embeddings', '/v1/messages', '/v1/responses'])(
    '%s has no input_ids',
    (path) => {
      expect(read(path, { input_ids: [1] })).toMatchObject({ tokens: null, text: '' });
    },
  );
});

describe('a body that was not read', () => {
  it.each(['/v1/audio/transcriptions', CHAT, '/v1/realtime', '/other'])('of %s tells nothing', (path) => {
    expect(read(path, null)).toBe(NO_PROMPT);
  });

  it('has none where its endpoint is no JSON endpoint', () => {
    expect(read('/v1/audio/transcriptions', '--boundary')).toMatchObject({ text: null, namespace: null });
  });
});

describe('a beginning of a body', () => {
  it('has the tokens and the namespace that stand whole in it', () => {
    const body = '{"cache_salt":"s","lora_path":"t","input_ids":[11,22,33],"lora_id":"u"}';
    const at = (place: string): Prompt => read(GENERATE, body, undefined, body.indexOf(place));

    expect(ids(at('2,33'))).toEqual([11]);
    expect(ids(at('33'))).toEqual([11, 22]);
    expect(ids(at(',"lora_id'))).toEqual([11, 22, 33]);
    expect(at('s","lora').namespace).toBeNull();
    expect(at(',"lora_path').namespace).toBe('dce460e9e8bd706a');
    expect(at('11').namespace).toBe(read(GENERATE, body).namespace);
  });

  it('never throws', () => {
    const member = fc.constantFrom<[string, unknown]>(
      ['text', 'a"é😀\n'],
      ['input_ids', [1, -2, 3]],
      ['input_ids', [[1], [2]]],
      ['cache_salt', 'sé'],
      ['lora_id', 'l'],
      ['stream', true],
    );
    fc.assert(
      fc.property(fc.uniqueArray(member, { selector: ([name]) => name }), fc.nat(), (entries, at) => {
        const body = JSON.stringify(Object.fromEntries(entries));
        const prompt = read(GENERATE, body, undefined, at % (Buffer.byteLength(body) + 1));
        expect(prompt.tokens === null || prompt.text === null).toBe(true);
        expect(prompt.text?.isWellFormed()).not.toBe(false);
        expect(prompt.namespace).toSatisfy((value) => value === null || /^[0-9a-f]{16}$/.test(String(value)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('laziness', () => {
  /** Counts what is read of the head. */
  function watched(): { readonly head: RequestHead; reads: number } {
    const real = headOf({ headers: [['x-smg-routing-tokens', 'none']] });
    const watch = {
      reads: 0,
      head: {
        method: real.method,
        path: real.path,
        endOfStream: real.endOfStream,
        first(name: string) {
          watch.reads++;
          return real.first(name);
        },
      },
    };
    return watch;
  }

  it('reads nothing until asked, and each value once', () => {
    const watch = watched();
    const bytes = Buffer.from('{"text":"before","cache_salt":"s"}');
    const fields = readBody(bytes, true, endpointOf(GENERATE));
    if (fields.kind === 'error') throw new Error(fields.message);
    const prompt = new BodyPrompt(watch.head, 'generate', fields.members);

    expect(watch.reads).toBe(0);
    bytes.write('"behind"', bytes.indexOf('"before"'));
    expect(prompt.text).toBe('behind');
    expect(prompt.namespace).toBe('dce460e9e8bd706a');
    bytes.fill(0x20);
    expect(prompt).toMatchObject({ tokens: null, text: 'behind', namespace: 'dce460e9e8bd706a' });
    expect(watch.reads).toBe(1);
  });

  it('hands out the same tokens', () => {
    const prompt = read(GENERATE, { input_ids: [1, 2] });

    expect(prompt.tokens).toBe(prompt.tokens);
  });
});
