import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonScan, MemberNames, NestedObject, type ScanStatus, scanObject } from './json-scanner.ts';
import { JsonWalker } from './json-walker.ts';

const NAMES = ['rid', 'model', 'messages', 'naïve'];
const WANTED = new MemberNames(NAMES);

const scan = (text: string | Buffer): JsonScan => scanObject(Buffer.from(text), WANTED);

/** The members found whole, as raw JSON. */
function found(text: string | Buffer): Record<string, string> {
  const bytes = Buffer.from(text);
  const { starts, ends } = scanObject(bytes, WANTED);
  const members: Record<string, string> = {};
  NAMES.forEach((name, i) => {
    if (ends[i] !== -1) members[name] = bytes.toString('utf8', starts[i], ends[i]);
  });
  return members;
}

describe('scanObject finds members of the top level', () => {
  it.each<[string, string, Record<string, string>]>([
    ['an empty object', '{}', {}],
    ['a string', '{"rid":"a"}', { rid: '"a"' }],
    ['numbers and literals', '{"rid":-1.5e+3,"model":null,"x":true}', { rid: '-1.5e+3', model: 'null' }],
    ['white space everywhere', ' \t\r\n{ "rid" \n:\t"a" , "model" : 1 }\n ', { rid: '"a"', model: '1' }],
    [
      'nested values as a whole',
      '{"messages":[{"rid":"n"},["]"]],"rid":{"rid":[]}}',
      { messages: '[{"rid":"n"},["]"]]', rid: '{"rid":[]}' },
    ],
    ['nothing nested', '{"metadata":{"rid":"n"},"a":[{"rid":"n"}]}', {}],
    ['an escaped name', '{"r\\u0069d":"a","\\u006d\\u006f\\u0064\\u0065\\u006c":"m"}', { rid: '"a"', model: '"m"' }],
    ['a name beyond ASCII, plain and escaped', '{"na\\u00efve":1}', { naïve: '1' }],
    ['names that only begin or end alike', '{"ri":1,"rids":2,"xrid":3,"RID":4," rid":5,"rid\\u0000":6}', {}],
    ['a name with a bad escape is none of them', '{"\\x72id":1,"model":2}', { model: '2' }],
    ['escaped quotes and backslashes', '{"a":"\\"","b":"\\\\","c":"\\\\\\"rid\\\\","rid":"\\\\"}', { rid: '"\\\\"' }],
    ['a byte order mark', '\ufeff{"rid":"a"}', { rid: '"a"' }],
    ['a member behind a long string', `{"x":"${'y'.repeat(500)}","rid":"a"}`, { rid: '"a"' }],
    ['a member behind a long string full of escapes', `{"x":"${'\\"'.repeat(500)}","rid":"a"}`, { rid: '"a"' }],
    [
      'a member behind a string that ends in backslashes',
      `{"x":"${'y'.repeat(70)}${'\\\\'.repeat(50)}","rid":"a"}`,
      { rid: '"a"' },
    ],
    ['a member behind a long array of numbers', `{"x":[${'12, '.repeat(500)}1],"rid":"a"}`, { rid: '"a"' }],
    [
      'a member behind an array that stops being numbers',
      `{"x":[${'1,'.repeat(50)}"]",[2],{"rid":3}],"rid":"a"}`,
      { rid: '"a"' },
    ],
    [
      'a member behind arrays of numbers within arrays',
      `{"x":[[${'1,'.repeat(50)}1],[2],[${'1,'.repeat(50)}1]],"rid":"a"}`,
      { rid: '"a"' },
    ],
  ])('%s', (_title, text, members) => {
    expect(scan(text).status).toBe('object');
    expect(found(text)).toEqual(members);
  });

  it('does not recurse: a million levels are no more than a million bytes', () => {
    const text = `{"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},"rid":"a"}`;

    expect(found(text)).toEqual({ rid: '"a"' });
  });
});

describe('scanObject tells what the bytes are', () => {
  it.each<[string, ScanStatus, number]>([
    ['[]', 'not_object', 0],
    ['"rid"', 'not_object', 0],
    ['  7', 'not_object', 2],
    ['null', 'not_object', 0],
    ['}', 'not_object', 0],
    ['rid=a', 'not_object', 0],
    ['\0{}', 'not_object', 0],
    ['', 'truncated', 0],
    [' \n', 'truncated', 2],
    ['\ufeff', 'truncated', 3],
    ['{', 'truncated', 1],
    ['{"', 'truncated', 2],
    ['{"rid\\', 'truncated', 6],
    ['{"rid"', 'truncated', 6],
    ['{"rid":', 'truncated', 7],
    ['{"rid":"a', 'truncated', 9],
    ['{"rid":"a"', 'truncated', 10],
    ['{"rid":"a",', 'truncated', 11],
    ['{"rid":12', 'truncated', 9],
    ['{"rid":[{}', 'truncated', 10],
    ['{rid:1}', 'malformed', 1],
    ["{'rid':1}", 'malformed', 1],
    ['{,}', 'malformed', 1],
    ['{"rid"}', 'malformed', 6],
    ['{"rid" 1}', 'malformed', 7],
    ['{"rid":}', 'malformed', 7],
    ['{"rid":,"a":1}', 'malformed', 7],
    ['{"rid":"a" "b"}', 'malformed', 11],
    ['{"rid":"a";}', 'malformed', 10],
    ['{"rid":"a",}', 'malformed', 11],
    ['{"rid":1]', 'malformed', 8],
    ['{"rid":1 2}', 'malformed', 9],
    ['{}{}', 'malformed', 2],
    ['{"a":1} x', 'malformed', 8],
    ['{}\0', 'malformed', 2],
  ])('%j is %s, seen at byte %i', (text, status, offset) => {
    expect(scan(text)).toMatchObject({ status, offset });
  });

  it('says what it expected', () => {
    expect(scan('{"rid" 1}').expected).toBe('a colon');
    expect(scan('{"a":1,}').expected).toBe('a member name in double quotes');
    expect(scan('{"a":1 "b"').expected).toBe('a comma or a closing brace');
    expect(scan('{} {').expected).toBe('nothing after the object');
    expect(scan('{"a":}').expected).toBe('a value');
    expect(scan('{}').expected).toBe('');
  });

  it('takes the beginning of a byte order mark for a cut', () => {
    expect(scan(Buffer.from([0xef, 0xbb])).status).toBe('truncated');
    expect(scan(Buffer.from([0xef, 0xbb, 0x7b])).status).toBe('not_object');
  });
});

describe('scanObject and repeated members', () => {
  it('tells the place of the second and keeps the first', () => {
    const result = scan('{"rid":"a","model":1,"rid":"b","rid":"c"}');

    expect(result.repeats).toEqual([21, -1, -1, -1]);
    expect([result.starts[0], result.ends[0]]).toEqual([7, 10]);
  });

  it('knows a name again however it is escaped', () => {
    expect(scan('{"rid":"a","r\\u0069d":"b"}').repeats[0]).toBe(11);
  });

  it('does not mind members that nobody wants', () => {
    expect(scan('{"x":1,"x":2}').repeats).toEqual([-1, -1, -1, -1]);
  });

  it('sees a repetition whose value is cut', () => {
    expect(scan('{"rid":"a","rid":"b').repeats[0]).toBe(11);
    expect(scan('{"rid":"a","rid"').repeats[0]).toBe(-1);
  });
});

describe('scanObject on a cut value', () => {
  it('tells where it begins, and no end', () => {
    const result = scan('{"rid":"a","messages":[{"role":"us');

    expect([result.starts[2], result.ends[2]]).toEqual([22, -1]);
    expect(result.ends[0]).toBe(10);
  });

  it('takes a number at the very end for cut', () => {
    expect(scan('{"model":12').ends[1]).toBe(-1);
    expect(scan('{"model":12 ').ends[1]).toBe(11);
  });
});

describe('scanObject on a long array of numbers that is closed by a brace', () => {
  const numbers = '12, '.repeat(20);

  it.each([
    ['whose bracket comes later', `{"x":[${numbers}1} 7]}`],
    ['before another element', `{"x":[${numbers}1}, 7]}`],
  ])('tells the same of a beginning and of the whole: %s', (_title, text) => {
    const whole = scan(text);
    for (let end = 0; end < text.length; end++) {
      const { status, offset } = scan(text.slice(0, end));
      if (status !== 'truncated') expect([status, offset]).toEqual([whole.status, whole.offset]);
    }
  });
});

describe('NestedObject', () => {
  const object = new NestedObject(['a', 'b']);
  const read = (text: string, at = 0) => {
    const bytes = Buffer.from(text);
    const walker = new JsonWalker(bytes, at);
    const whole = object.read(walker);
    const raw = (index: number): string | null => {
      const start = object.start(index);
      const end = object.end(index);
      return start < 0 ? null : bytes.toString('utf8', start, end < 0 ? bytes.length : end);
    };
    return { whole, at: walker.at, a: raw(0), b: raw(1), cut: object.start(0) >= 0 && object.end(0) < 0 };
  };

  it.each<[string, object]>([
    ['{"b":[1],"a":"x"},', { whole: true, at: 17, a: '"x"', b: '[1]' }],
    ['{}]', { whole: true, at: 2, a: null, b: null }],
    ['{"a":1,"a":2} ', { whole: true, a: '1' }],
    ['"a" ', { whole: true, at: 3, a: null }],
    ['[{"a":1}] ', { whole: true, at: 9, a: null }],
    ['{"b":2,"a":"x', { whole: false, a: '"x', b: '2', cut: true }],
    ['{"a":1 "b":2}', { whole: false, a: '1', b: null }],
    ['?', { whole: false, a: null }],
  ])('%s', (text, expected) => {
    expect(read(text)).toMatchObject(expected);
  });

  it('forgets what it read before', () => {
    read('{"a":1,"b":2}');

    expect(read('{"b":3}')).toMatchObject({ a: null, b: '3' });
    expect(read('7 ')).toMatchObject({ a: null, b: null });
  });

  it('reads from where the walker stands', () => {
    expect(read('[{"a":1},{"a":2}]', 9)).toMatchObject({ a: '2', at: 16 });
  });
});

describe('a visit of a list', () => {
  const elements = (text: string): string[] => {
    const walker = new JsonWalker(Buffer.from(text), 0);
    const found: string[] = [];
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const start = walker.at;
      const skipped = walker.skipValue();
      if (skipped === 'none') break;
      found.push(text.slice(start, walker.at));
    }
    return found;
  };

  it.each<[string, string[]]>([
    ['[1,"a",[2],{}]', ['1', '"a"', '[2]', '{}']],
    ['[ 1 , 2 ] ', ['1', '2']],
    ['[]', []],
    ['[ ]', []],
    ['[', []],
    ['{"a":1}', []],
    ['"a"', []],
    ['[1,', ['1']],
    ['[1 2]', ['1']],
    ['[,1]', []],
  ])('%s', (text, expected) => {
    expect(elements(text)).toEqual(expected);
  });
});

describe('scanObject takes time linear in the bytes', () => {
  // A search repeated from every element to the far end would take quadratic time, far above the bound.
  const numbers = '1,'.repeat(20);
  const MEGABYTES = 4_000_000;
  const fill = (unit: string): string => unit.repeat(Math.floor(MEGABYTES / unit.length));

  it.each<[string, string]>([
    ['arrays of numbers that open and never close', `{"x":${fill(`[${numbers}`)}`],
    ['nested arrays of numbers with one far bracket', `{"x":${fill(`[${numbers}`)}]`],
    ['members whose brackets do not match, with one far bracket', `{${fill(`"x":[${numbers}},`)}"y":[]}`],
    ['many rows of numbers', `{"x":[${fill(`[${numbers}1],`)}[]]}`],
    ['numbers and strings in turn', `{"x":[${fill(`${numbers}"s",`)}1]}`],
    ['backslashes', `{"x":"${fill('\\\\')}"}`],
    ['backslashes and quotes in turn', `{"x":"${fill(`${'\\\\'.repeat(40)}\\"`)}"}`],
    ['escaped quotes without end', `{"x":"${fill('\\"')}`],
    ['short members', `{${fill('"x":1,')}"y":1}`],
    ['escaped names', `{${fill('"\\u0072i":1,')}"y":1}`],
  ])('%s', (_title, text) => {
    const bytes = Buffer.from(text);
    const begin = performance.now();

    scanObject(bytes, WANTED);

    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});

describe('scanObject against JSON.parse', () => {
  const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 3 });
  const awkward = fc.string({ unit: fc.constantFrom('"', '\\', '{', ']', ',', 'a', 'é', '😀', '\n'), maxLength: 150 });
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    awkward,
    fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })), { maxLength: 40 }),
    fc.array(fc.oneof({ weight: 30, arbitrary: fc.integer() }, awkward, fc.constant([1]), fc.constant({ rid: 1 })), {
      maxLength: 40,
    }),
  );
  const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', maxLength: 8 }), awkward);
  const member = fc.record({
    name,
    value,
    escaped: fc.boolean(),
    indent: fc.nat({ max: 2 }),
    spaces: fc.array(space, { minLength: 4, maxLength: 4 }),
  });
  const members = fc.uniqueArray(member, { selector: (entry) => entry.name, maxLength: 8 });

  const quoted = (text: string, escaped: boolean): string =>
    escaped
      ? `"${text
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join('')}"`
      : JSON.stringify(text);
  const object = members.map((entries) => {
    const body = entries.map(({ name, value, escaped, indent, spaces }) => {
      const [a, b, c, d] = spaces;
      return `${a}${quoted(name, escaped)}${b}:${c}${JSON.stringify(value, null, indent)}${d}`;
    });
    return `{${body.join(',')}}`;
  });

  /** What JSON.parse says of the wanted members. */
  const model = (text: string): Record<string, unknown> => {
    const parsed: Record<string, unknown> = JSON.parse(text);
    return Object.fromEntries(NAMES.filter((name) => Object.hasOwn(parsed, name)).map((name) => [name, parsed[name]]));
  };
  const parsedOf = (members: Record<string, string>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(members).map(([name, raw]) => [name, JSON.parse(raw)]));

  it('finds the same members with the same values', () => {
    fc.assert(
      fc.property(object, (text) => {
        expect(scan(text).status).toBe('object');
        expect(parsedOf(found(text))).toEqual(model(text));
      }),
      { numRuns: 500 },
    );
  });

  it('of any cut, calls it cut and finds nothing that the whole does not hold', () => {
    fc.assert(
      fc.property(object, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (text, share) => {
        const bytes = Buffer.from(text);
        const whole = found(bytes);
        const cut = bytes.subarray(0, Math.floor(bytes.length * share));

        expect(scan(cut).status).toBe('truncated');
        for (const [name, raw] of Object.entries(found(cut))) expect(raw).toBe(whole[name]);
        expect(scan(cut).repeats).toEqual([-1, -1, -1, -1]);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds every repetition, and only those', () => {
    const pairs = fc.array(fc.tuple(fc.constantFrom('rid', 'model', 'x'), fc.boolean()), { maxLength: 6 });

    fc.assert(
      fc.property(pairs, (entries) => {
        const result = scan(`{${entries.map(([name, escaped]) => `${quoted(name, escaped)}:1`).join(',')}}`);

        ['rid', 'model'].forEach((name, i) => {
          const count = entries.filter(([entry]) => entry === name).length;
          expect(result.repeats[i] !== -1).toBe(count > 1);
        });
      }),
    );
  });

  it('accepts every object that JSON.parse accepts, and ends on whatever it is given', () => {
    const soup = fc.string({
      unit: fc.constantFrom(
        ...'{}[]",:\\01-e tn'.split(''),
        '"rid"',
        '"rid":',
        '{"a":',
        '1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,',
      ),
      maxLength: 30,
    });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }).map((raw) => Buffer.from(raw)),
      soup.map((text) => Buffer.from(`{${text}`)),
      fc.tuple(object, fc.nat(), fc.nat({ max: 255 })).map(([text, place, byte]) => {
        const spoilt = Buffer.from(text);
        spoilt[place % spoilt.length] = byte;
        return spoilt;
      }),
    );

    fc.assert(
      fc.property(bytes, (raw) => {
        const result = scanObject(raw, WANTED);

        let parsed: unknown;
        try {
          parsed = JSON.parse(raw.toString());
        } catch {
          parsed = undefined;
        }
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
        if (isObject) expect(result.status).toBe('object');
        else if (parsed !== undefined) expect(result.status).toBe('not_object');
        expect(result.offset).toBeLessThanOrEqual(raw.length);
        result.ends.forEach((end, i) => {
          if (end !== -1) expect(end).toBeGreaterThan(result.starts[i]!);
        });
      }),
      { numRuns: 3000 },
    );
  });
});
