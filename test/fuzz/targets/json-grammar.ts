/** Request bodies as clients write them, and as nobody should. */
import type { ByteSink } from '../lib/byte-sink.ts';
import type { Random } from '../lib/random.ts';

const NAMES = [
  'rid',
  'model',
  'stream',
  'messages',
  'system',
  'prompt',
  'text',
  'input_ids',
  'input',
  'query',
  'cache_salt',
  'extra_key',
  'lora_path',
  'lora_id',
  'data_parallel_rank',
  'metadata',
  'conversation',
  'previous_response_id',
  'tools',
  '__proto__',
  '',
  'ridd',
  'mode',
  'é',
];
const INNER = ['content', 'reasoning_content', 'role', 'type', 'text', 'user_id', 'session', '0', 'x'];
const WORDS = [
  'text',
  'input_text',
  'output_text',
  'reasoning_text',
  'assistant',
  'reasoning',
  'function_call',
  'function_call_output',
  'user',
  'system',
  'message',
];
const CHARACTERS = ['a', 'b', ' ', '/', 'é', '日', '😀', '{', '}', '[', ']', ',', ':', '\u007f', '\u2028', '0'];
const ESCAPES = ['\\"', '\\\\', '\\/', '\\n', '\\u0041', '\\u00e9', '\\ud83d\\ude00', '\\u0000', '\\u2028'];
const WRONG = ['\\ud83d', '\\udc00', '\\x', '\\u12', '\n', '\u0001', '\\'];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '4294967295',
  '4294967296',
  '1.5',
  '1e3',
  '-2147483648',
  '123456789012345678901234567890',
];
const BAD_NUMBERS = ['01', '+1', '1.', '.5', '1e', 'nul', 'truee', 'NaN', '-'];
const BLANKS = [' ', '\n', '\t', '\r\n', '  '];
const LONG = 20_000;

export class JsonGrammar {
  readonly #sink: ByteSink;
  readonly #random: Random;
  /** Once in so many places something is wrong; 0: never. */
  readonly #faults: number;

  constructor(sink: ByteSink, random: Random) {
    this.#sink = sink;
    this.#random = random;
    this.#faults = random.once(3) ? 60 : 0;
  }

  body(): void {
    const random = this.#random;
    if (random.once(40)) this.#sink.bytes(MARK.subarray(0, 1 + random.below(3)));
    this.#blank();
    if (random.once(25)) this.#any(3);
    else this.#object(NAMES, 4, random.size(random.once(100) ? 200 : 10));
    this.#blank();
    if (this.#fault()) this.#sink.text(random.pick(['x', '}', ',', '{}', '\u0000']));
  }

  #object(names: readonly string[], depth: number, members: number): void {
    this.#sink.text('{');
    this.#blank();
    for (let i = 0; i < members; i++) {
      if (i > 0) this.#sink.text(this.#fault() ? ' ' : ',');
      this.#blank();
      const name = this.#random.pick(names);
      this.#name(name);
      this.#blank();
      this.#sink.text(this.#fault() ? '=' : ':');
      this.#blank();
      this.#valueOf(name, depth);
      this.#blank();
    }
    if (!this.#fault()) this.#sink.text('}');
  }

  #valueOf(name: string, depth: number): void {
    const random = this.#random;
    if (depth <= 0 || random.once(8)) {
      this.#any(Math.max(0, depth - 1));
      return;
    }
    switch (name) {
      case 'rid':
        random.once(3) ? this.#list(() => this.#string(), 3) : this.#string();
        return;
      case 'stream':
        this.#sink.text(random.pick(['true', 'false', 'null']));
        return;
      case 'messages':
      case 'input':
      case 'system':
        if (random.once(4)) {
          this.#string();
          return;
        }
        this.#list(() => this.#object(INNER, depth - 1, random.size(6)), 5);
        return;
      case 'content':
        if (random.once(2)) {
          this.#string();
          return;
        }
        this.#list(() => this.#object(['type', 'text', 'x'], depth - 1, random.size(4)), 4);
        return;
      case 'type':
      case 'role':
        this.#name(random.pick(WORDS));
        return;
      case 'input_ids':
        if (random.once(4)) {
          this.#list(() => this.#ids(), 3);
          return;
        }
        this.#ids();
        return;
      case 'prompt':
      case 'query':
      case 'text':
        random.once(4) ? this.#list(() => this.#string(), 4) : this.#string();
        return;
      case 'metadata':
        this.#object(INNER, depth - 1, random.size(6));
        return;
      default:
        random.once(2) ? this.#string() : this.#any(depth - 1);
        return;
    }
  }

  #any(depth: number): void {
    const random = this.#random;
    switch (random.below(depth > 0 ? 6 : 4)) {
      case 0:
        this.#string();
        return;
      case 1:
        this.#sink.text(random.pick(this.#fault() ? BAD_NUMBERS : NUMBERS));
        return;
      case 2:
        this.#sink.text(random.pick(['true', 'false', 'null']));
        return;
      case 3:
        this.#ids();
        return;
      case 4:
        this.#list(() => this.#any(depth - 1), 5);
        return;
      default:
        this.#object(random.once(2) ? NAMES : INNER, depth - 1, random.size(5));
        return;
    }
  }

  #list(element: () => void, most: number): void {
    this.#sink.text('[');
    this.#blank();
    const count = this.#random.size(most);
    for (let i = 0; i < count; i++) {
      if (i > 0) this.#sink.text(',');
      this.#blank();
      element();
      this.#blank();
    }
    if (!this.#fault()) this.#sink.text(']');
  }

  #ids(): void {
    const random = this.#random;
    const count = random.once(2000) ? LONG : random.size(60);
    this.#sink.text('[');
    for (let i = 0; i < count; i++) {
      if (i > 0) this.#sink.text(random.once(20) ? ', ' : ',');
      this.#sink.text(random.once(30) ? random.pick(NUMBERS) : String(random.below(150_000)));
      if (this.#fault()) this.#sink.text(random.pick(['"', '[', '{', ']', '}']));
    }
    this.#sink.text(']');
  }

  #name(name: string): void {
    const sink = this.#sink;
    sink.text('"');
    for (const character of name) {
      if (this.#random.once(25)) sink.text(`\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
      else sink.text(character);
    }
    sink.text('"');
  }

  #string(): void {
    const random = this.#random;
    const sink = this.#sink;
    sink.text('"');
    const length = random.once(3000) ? LONG : random.size(40);
    const plain = random.once(2);
    for (let i = 0; i < length; i++) {
      if (plain) sink.byte(0x61 + (i % 26));
      else if (random.once(10)) sink.text(random.pick(ESCAPES));
      else sink.text(random.pick(CHARACTERS));
    }
    if (this.#fault()) random.once(3) ? sink.byte(0x80 + random.below(128)) : sink.text(random.pick(WRONG));
    if (!this.#fault()) sink.text('"');
  }

  #blank(): void {
    if (this.#random.once(12)) this.#sink.text(this.#random.pick(BLANKS));
  }

  #fault(): boolean {
    return this.#faults > 0 && this.#random.once(this.#faults);
  }
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
export const JSON_TOKENS = [
  ...NAMES.map((name) => `"${name}":`),
  ...WORDS.map((word) => `"${word}"`),
  ...ESCAPES,
  ...WRONG,
  ...NUMBERS,
  ...BAD_NUMBERS,
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '{"',
  '":',
  '"}',
  '[[',
  '[{',
  '}]',
  'null',
  'true',
  'false',
  '1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,',
].map((text) => Buffer.from(text));
