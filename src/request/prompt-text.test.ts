import { describe, expect, it } from 'vitest';
import { textOf } from '../../test/support/prompt-text.ts';

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const RESPONSES = '/v1/responses';

const text = (value: string) => ({ type: 'text', text: value });
const input = (value: string) => ({ type: 'input_text', text: value });
const output = (value: string) => ({ type: 'output_text', text: value, annotations: [] });
const image = { type: 'image_url', image_url: { url: 'http://image/' } };
const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('policies 6.2 examples', () => {
  it.each<[string, string, unknown, string]>([
    [
      'chat: system, empty user, parts with an image',
      CHAT,
      {
        messages: [
          { role: 'system', content: 'A' },
          { role: 'user', content: '' },
          { role: 'user', content: [text('B'), image, text('C')] },
        ],
      },
      'A B C',
    ],
    [
      'chat: assistant with null content',
      CHAT,
      { messages: [{ role: 'assistant', content: null, reasoning_content: 'R', tool_calls: [call] }] },
      'R',
    ],
    ['completions: list', '/v1/completions', { prompt: ['a', 'b'] }, 'a b'],
    ['generate: text', '/generate', { text: 'hi' }, 'hi'],
    ['generate: text beside an empty list', '/generate', { input_ids: [], text: 'hi' }, 'hi'],
    ['generate: batch that begins empty', '/generate', { input_ids: [[], [3]] }, '3'],
    ['responses: string', RESPONSES, { input: 'x', instructions: 'y' }, 'x'],
    [
      'messages: system and blocks',
      MESSAGES,
      { system: 'S', messages: [{ role: 'user', content: [text('u'), { type: 'tool_result', content: 'no' }] }] },
      'S u',
    ],
    ['rerank: query', '/v1/rerank', { query: 'q', documents: ['d'] }, 'q'],
    ['embeddings: token lists', '/v1/embeddings', { input: [[1, 2]] }, ''],
  ])('%s', (_title, path, body, expected) => {
    expect(textOf(path, body)).toBe(expected);
  });
});

describe('policies 6.1 chat', () => {
  const chat = (...messages: unknown[]) => textOf(CHAT, { messages });

  it('takes content of all roles, in order, and reasoning of assistants only', () => {
    const messages = ['system', 'developer', 'user', 'assistant', 'tool', 'function'].map((role) => ({
      role,
      name: 'n',
      content: `c-${role}`,
      reasoning_content: `r-${role}`,
    }));

    expect(chat(...messages)).toBe('c-system c-developer c-user c-assistant r-assistant c-tool c-function');
  });

  it('takes content before reasoning, whatever their order', () => {
    expect(chat({ reasoning_content: 'r', content: 'c', role: 'assistant' })).toBe('c r');
  });

  it('joins parts as it joins messages, and leaves empty ones out', () => {
    expect(chat({ role: 'assistant', content: [text('x'), text(''), text('y')] }, { role: 'user', content: 'z' })).toBe(
      'x y z',
    );
  });

  it('trims nothing', () => {
    expect(chat({ role: 'user', content: ' a ' }, { role: 'user', content: ' ' }, { role: 'user', content: 'b' })).toBe(
      ' a    b',
    );
  });

  it.each<[string, unknown[]]>([
    ['parts of another type', [{ role: 'user', content: [image, { type: 'refusal', refusal: 'no' }, input('no')] }]],
    ['parts without a type', [{ role: 'user', content: [{ text: 'no' }] }]],
    ['text that is no string', [{ role: 'user', content: [{ type: 'text', text: ['no'] }, text('')] }]],
    ['bare strings among parts', [{ role: 'user', content: ['no', ['no'], null] }]],
    ['content of another type', [{ role: 'user', content: { type: 'text', text: 'no' } }, { content: 7 }, {}]],
    ['messages that are no objects', ['no', 7, null, [{ content: 'no' }]]],
  ])('passes over %s', (_title, messages) => {
    expect(chat(...messages, { role: 'user', content: 'yes' })).toBe('yes');
  });

  it.each(['"no"', '7', 'null', '{"role":"user","content":"no"}', '[]'])('of messages %s has none', (raw) => {
    expect(textOf(CHAT, `{"messages":${raw},"prompt":"no","text":"no","input":"no","query":"no"}`)).toBe('');
  });

  it('keeps what stands before a fault', () => {
    const before = '{"role":"user","content":"yes"}';

    for (const fault of ['{"role" "x"}', '{"role":}', '?', '{"content":"and","x":?}', ',']) {
      expect(textOf(CHAT, `{"messages":[${before},${fault},{"content":"no"}]}`)).toMatch(/^yes( and)?$/);
    }
  });
});

describe('policies 6.1 messages', () => {
  it.each([MESSAGES, '/v1/messages/count_tokens'])('%s takes system first, then text only', (path) => {
    const body = {
      messages: [
        { role: 'user', content: 'u' },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'no', signature: 's' }, text('a'), { type: 'tool_use', input: {} }],
          reasoning_content: 'no',
        },
      ],
      system: [text('S'), text(''), { type: 'text', text: 'T', cache_control: { type: 'ephemeral' } }],
    };

    expect(textOf(path, body)).toBe('S T u a');
  });
});

describe('policies 6.1 responses', () => {
  const responses = (...items: unknown[]) => textOf(RESPONSES, { input: items });

  it('takes messages and reasoning, not calls and summaries', () => {
    expect(
      responses(
        { type: 'message', role: 'user', content: [input('a'), { type: 'input_image', text: 'no' }, output('b')] },
        { role: 'user', content: 'c' },
        { type: 'message', role: 'user', content: 'd' },
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'no' }],
          content: [{ type: 'reasoning_text', text: 'r' }, input('no')],
        },
        { type: 'function_call', name: 'f', arguments: '{}', content: 'no' },
        { type: 'function_call_output', call_id: '1', output: 'no', content: 'no' },
        { role: 'user', content: [input('e'), { type: 'reasoning_text', text: 'no' }, text('no')] },
      ),
    ).toBe('a b c d r e');
  });

  it('joins empty pieces, too', () => {
    expect(responses({ role: 'user', content: [input('a'), input(''), input('b')] })).toBe('a  b');
    expect(responses({ role: 'user', content: '' }, { role: 'user', content: 'a' })).toBe(' a');
  });

  it('of an empty string or list is empty', () => {
    expect(textOf(RESPONSES, { input: '' })).toBe('');
    expect(responses()).toBe('');
  });
});

describe('policies 6.1 endpoints of strings', () => {
  it.each<[string, string]>([
    ['/v1/completions', 'prompt'],
    ['/v1/embeddings', 'input'],
    ['/v1/classify', 'input'],
    ['/generate', 'text'],
  ])('%s: a string, or the strings of a list with a space between, empty ones too', (path, member) => {
    const rows: [unknown, string][] = [
      ['a b', 'a b'],
      ['', ''],
      [['a', '', 'b'], 'a  b'],
      [['', 'a'], ' a'],
      [[], ''],
      [['a', 7, ['no'], null, { a: 'no' }, 'b'], 'a b'],
      [[1, 2], ''],
    ];
    for (const [value, expected] of rows) expect(textOf(path, { [member]: value })).toBe(expected);
  });

  it.each<[string, unknown, string]>([
    ['an empty text counts', { text: '', input_ids: [[], [1]] }, ''],
    ['null does not', { text: null, input_ids: [[], [1], [2, 3]] }, '1 2 3'],
    ['neither', {}, ''],
    ['ids of another type', { input_ids: '1,2' }, ''],
  ])('/generate: %s', (_title, body, expected) => {
    expect(textOf('/generate', body)).toBe(expected);
  });

  it.each(['/rerank', '/v1/rerank'])('%s: the query', (path) => {
    expect(textOf(path, { documents: ['no'], query: 'q', text: 'no' })).toBe('q');
  });

  it('/v1/interactions has none', () => {
    expect(textOf('/v1/interactions', { input: 'no', messages: [{ role: 'user', content: 'no' }] })).toBe('');
  });
});

describe('repeated members', () => {
  it('the first counts, as everywhere in a body', () => {
    expect(textOf('/v1/completions', '{"prompt":"a","prompt":"b"}')).toBe('a');
    expect(textOf(CHAT, '{"messages":[{"content":"a","content":"b"}],"messages":[]}')).toBe('a');
  });
});

describe('a beginning of a body', () => {
  it.each<[string, string, string]>([
    [CHAT, '{"messages":[{"role":"user","content":"Hel', 'Hel'],
    [CHAT, '{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi\\', 'Hello Hi'],
    [CHAT, '{"messages":[{"role":"user","content":[{"type":"text","text":"Hel', 'Hel'],
    [CHAT, '{"messages":[{"role":"user","content":[{"text":"Hel', ''],
    [CHAT, '{"messages":[{"content":"Hello","ro', 'Hello'],
    [CHAT, '{"messages":[{"role":"assistant","content":"a","reasoning_content":"wh', 'a wh'],
    [CHAT, '{"mess', ''],
    [MESSAGES, '{"system":"You ar', 'You ar'],
    [MESSAGES, '{"system":[{"type":"text","text":"You', 'You'],
    ['/v1/completions', '{"prompt":["a","b', 'a b'],
    ['/generate', '{"text":"caf\\u00e', 'caf'],
    ['/generate', '{"input_ids":[[],[3,4', '3'],
    [
      RESPONSES,
      '{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b',
      'a b',
    ],
    [RESPONSES, '{"input":"Hel', 'Hel'],
    ['/rerank', '{"query":"Hel', 'Hel'],
  ])('%s %s', (path, body, expected) => {
    expect(textOf(path, body, body.length)).toBe(expected);
  });
});

describe('time is linear in the bytes', () => {
  const MEGABYTES = 4_000_000;
  const fill = (unit: string): string => unit.repeat(Math.floor(MEGABYTES / unit.length));

  it.each<[string, string]>([
    ['lists that open', `{"messages":[${fill('[')}`],
    ['messages that open', `{"messages":[${fill('{"content":[')}`],
    ['empty messages', `{"messages":[${fill('{},')}{}]}`],
    ['empty parts', `{"messages":[{"content":[${fill('{},')}{}]}]}`],
    ['numbers that never end', `{"messages":[{"content":[${fill(`[${'1,'.repeat(20)}`)}`],
    ['escapes', `{"messages":[{"content":"${fill('\\"')}`],
    ['halves of pairs', `{"messages":[{"content":"${fill('\\ud83d')}`],
    ['cut content in every message', `{"messages":[${fill('{"content":"\\')}`],
    ['long words', `{"messages":[{"role":"${fill('\\u0061')}","content":"a"}]}`],
  ])('%s', (_title, body) => {
    const begin = performance.now();

    textOf(CHAT, body, body.length);

    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
