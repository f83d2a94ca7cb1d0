import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSpelling } from '../../test/support/json-spelling.ts';
import { textOf } from '../../test/support/prompt-text.ts';
import { readBody } from './body-fields.ts';
import { endpointOf } from './endpoint.ts';
import { promptText } from './prompt-text.ts';

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const RESPONSES = '/v1/responses';

/** The rules once more, over parsed JSON. */
const oracle = {
  string: (value: unknown): string[] => (typeof value === 'string' ? [value] : []),
  list: (value: unknown): unknown[] => (Array.isArray(value) ? value : []),
  get: (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)[name]
      : undefined,
  content(value: unknown, types: string[]): string[] {
    const parts = oracle.list(value).filter((part) => types.includes(String(oracle.get(part, 'type'))));
    return [...oracle.string(value), ...parts.flatMap((part) => oracle.string(oracle.get(part, 'text')))];
  },
  messages(body: object, system: boolean): string {
    const pieces = oracle
      .list(oracle.get(body, 'messages'))
      .flatMap((message) => [
        ...oracle.content(oracle.get(message, 'content'), ['text']),
        ...(oracle.get(message, 'role') === 'assistant' && !system
          ? oracle.string(oracle.get(message, 'reasoning_content'))
          : []),
      ]);
    const first = system ? oracle.content(oracle.get(body, 'system'), ['text']) : [];
    return [...first, ...pieces].filter((piece) => piece !== '').join(' ');
  },
  responses(body: object): string {
    const value = oracle.get(body, 'input');
    const pieces = oracle.list(value).flatMap((item) => {
      const type = oracle.get(item, 'type');
      if (type === 'function_call' || type === 'function_call_output') return [];
      const types = type === 'reasoning' ? ['reasoning_text'] : ['input_text', 'output_text'];
      return oracle.content(oracle.get(item, 'content'), types);
    });
    return [...oracle.string(value), ...pieces].join(' ');
  },
  strings: (value: unknown): string =>
    [...oracle.string(value), ...oracle.list(value).filter((each) => typeof each === 'string')].join(' '),
  text(path: string, body: object): string {
    switch (path) {
      case CHAT:
        return oracle.messages(body, false);
      case MESSAGES:
        return oracle.messages(body, true);
      case RESPONSES:
        return oracle.responses(body);
      case '/v1/completions':
        return oracle.strings(oracle.get(body, 'prompt'));
      case '/v1/embeddings':
        return oracle.strings(oracle.get(body, 'input'));
      default:
        return oracle.strings(oracle.get(body, 'query'));
    }
  },
};
const PATHS = [CHAT, MESSAGES, RESPONSES, '/v1/completions', '/v1/embeddings', '/rerank'];

const prose = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '/', 'é', '日', '😀', ']', '}'), maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.constant('x'.repeat(100)),
);
const odd = fc.oneof(fc.constantFrom(null, true, 7, -1.5e3), fc.jsonValue({ maxDepth: 1 }));
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T) => fc.record(model, { requiredKeys: [] });
const part = some({
  type: mostly(fc.constantFrom('text', 'input_text', 'output_text', 'reasoning_text', 'image_url', 'summary_text')),
  text: mostly(prose),
  extra: odd,
});
const content = mostly(fc.oneof(prose, fc.array(mostly(part), { maxLength: 4 })));
const message = some({
  type: mostly(fc.constantFrom('message', 'reasoning', 'function_call', 'function_call_output')),
  role: mostly(fc.constantFrom('system', 'user', 'assistant', 'tool')),
  content,
  reasoning_content: mostly(prose),
  tool_calls: odd,
});
const strings = mostly(fc.oneof(prose, fc.array(mostly(prose), { maxLength: 4 })));
const items = mostly(fc.array(mostly(message), { maxLength: 4 }));
const bodyOf = fc.record({
  path: fc.constantFrom(...PATHS),
  body: some({
    system: content,
    messages: items,
    prompt: strings,
    input: fc.oneof(items, strings),
    query: mostly(prose),
    other: odd,
  }),
});

describe('promptText against JSON.parse', () => {
  it('finds the same text, however the body is spelt', () => {
    let filled = 0;
    fc.assert(
      fc.property(bodyOf, fc.integer(), ({ path, body }, seed) => {
        const expected = oracle.text(path, body);
        if (expected !== '') filled++;
        expect(textOf(path, new JsonSpelling(seed).write(body))).toBe(expected.toWellFormed());
      }),
      { numRuns: 2000 },
    );
    expect(filled).toBeGreaterThan(500);
  });

  it('of any cut, finds a beginning of the text', () => {
    fc.assert(
      fc.property(bodyOf, fc.nat(), ({ path, body }, at) => {
        // As clients write it: what comes first in the text comes first in the body.
        const ordered = JSON.stringify(body, (_name, value) => inOrder(value));
        const length = Buffer.byteLength(ordered);
        const whole = textOf(path, ordered);
        const found = textOf(path, ordered, at % (length + 1));
        expect(whole.startsWith(found)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws, and gives well-formed text, on whatever it is given', () => {
    const soup = fc.string({
      unit: fc.constantFrom(
        ...'{}[]",:\\u1 '.split(''),
        '"content":',
        '{"role":"user","content":',
        '"type":"text"',
        '\\ud83d',
      ),
      maxLength: 40,
    });
    fc.assert(
      fc.property(bodyOf, soup, fc.nat(), fc.nat({ max: 255 }), ({ path, body }, noise, place, byte) => {
        const spoilt = Buffer.from(JSON.stringify(body));
        spoilt[place % spoilt.length] = byte;
        const member = { [CHAT]: 'messages', [MESSAGES]: 'messages', '/v1/completions': 'prompt', '/rerank': 'query' }[
          path
        ];
        for (const bytes of [spoilt, Buffer.from(`{"${member ?? 'input'}":[${noise}`)]) {
          const endpoint = endpointOf(path);
          const fields = readBody(bytes, false, endpoint);
          if (fields.kind === 'error' || fields.members === null) continue;
          expect(promptText(endpoint.kind, fields.members).isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

const ORDER = ['type', 'role', 'system'];

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const rank = (name: string): number => (ORDER.includes(name) ? 0 : name === 'reasoning_content' ? 2 : 1);
  return Object.fromEntries(entries.toSorted(([a], [b]) => rank(a) - rank(b)));
}
