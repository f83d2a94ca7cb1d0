import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemberValue, setMembers } from './body-edit.ts';
import { MemberNames, scanObject } from './json-scanner.ts';

const NAMES = new MemberNames(['model', 'data_parallel_rank']);
const MODEL = 0;
const RANK = 1;

function edit(body: string | Buffer, values: readonly MemberValue[]): Buffer {
  const bytes = Buffer.from(body);
  const scan = scanObject(bytes, NAMES);
  expect(scan.status).toBe('object');
  return setMembers(scan, NAMES, values);
}

const rank = (json: string): MemberValue => ({ member: RANK, json });
const model = (name: string): MemberValue => ({ member: MODEL, json: JSON.stringify(name) });

describe('policies 2.4 members written into a body', () => {
  it.each<[string, string, MemberValue[], string]>([
    ['a new member in front', '{"model":"m"}', [rank('1')], '{"data_parallel_rank":1,"model":"m"}'],
    ['an empty object', '{}', [rank('0')], '{"data_parallel_rank":0}'],
    ['an empty object with white space', ' {\n} ', [rank('0')], ' {"data_parallel_rank":0\n} '],
    ['two new members', '{}', [rank('0'), model('m')], '{"data_parallel_rank":0,"model":"m"}'],
    [
      'two new members before another',
      '{ "a":1}',
      [model('m'), rank('0')],
      '{"model":"m","data_parallel_rank":0, "a":1}',
    ],
    ['a member in its place', '{"a":1, "data_parallel_rank" : 70 }', [rank('3')], '{"a":1, "data_parallel_rank" : 3 }'],
    ['null', '{"data_parallel_rank":null}', [rank('12')], '{"data_parallel_rank":12}'],
    ['a nested value', '{"data_parallel_rank":{"a":[1,"}"]},"b":2}', [rank('1')], '{"data_parallel_rank":1,"b":2}'],
    ['an escaped name', '{"\\u006dodel":"short"}', [model('long')], '{"\\u006dodel":"long"}'],
    ['the same name deeper down', '{"a":{"model":"x"},"model":"s"}', [model('l')], '{"a":{"model":"x"},"model":"l"}'],
    [
      'a name in a text',
      '{"a":"\\"model\\":\\"x\\"","model":"s"}',
      [model('l')],
      '{"a":"\\"model\\":\\"x\\"","model":"l"}',
    ],
    [
      'every one of a repeated member',
      '{"data_parallel_rank":1,"a":[{}],"data_parallel_rank" :  {"x":"}"} , "data_parallel_ran\\u006b":7}',
      [rank('4')],
      '{"data_parallel_rank":4,"a":[{}],"data_parallel_rank" :  4 , "data_parallel_ran\\u006b":4}',
    ],
    [
      'both, whatever their order',
      '{"data_parallel_rank":9,"x":0,"model":"s"}',
      [model('longer'), rank('10')],
      '{"data_parallel_rank":10,"x":0,"model":"longer"}',
    ],
    [
      'one replaced, one new',
      '{"x":0,"model":"s"}',
      [model('l'), rank('1')],
      '{"data_parallel_rank":1,"x":0,"model":"l"}',
    ],
    ['a name beyond ASCII', '{"model":"kürzel","p":"日本"}', [model('größe')], '{"model":"größe","p":"日本"}'],
    ['nothing', '{"model":"m"}', [], '{"model":"m"}'],
  ])('%s', (_, body, values, edited) => {
    expect(edit(body, values).toString()).toBe(edited);
  });

  it('keeps a byte order mark and bytes that are no UTF-8', () => {
    const body = Buffer.concat([Buffer.from('\ufeff{"p":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);

    const edited = edit(body, [rank('1')]);

    expect(edited.equals(Buffer.concat([Buffer.from('\ufeff{"data_parallel_rank":1,'), body.subarray(4)]))).toBe(true);
  });

  it('leaves the original as it was', () => {
    const body = Buffer.from('{"model":"a"}');
    const before = Buffer.from(body);

    edit(body, [model('b'), rank('1')]);

    expect(body.equals(before)).toBe(true);
  });
});

describe('properties', () => {
  const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
  const name = fc.oneof(fc.constantFrom('model', 'data_parallel_rank', 'rank', ''), fc.string());
  /** One spelling of an object, with repeated names, and blanks wherever they may stand. */
  const spelled = fc
    .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.tuple(name, fc.jsonValue(), blank, blank)), blank)
    .map(([mark, members, gap]) => {
      const inner = members.map(
        ([key, value, a, b]) => `${a}${JSON.stringify(key)}${b}:${a}${JSON.stringify(value)}${b}`,
      );
      return `${mark}${gap}{${inner.join(',')}${gap}}${gap}`;
    });
  const parse = (text: string): Record<string, unknown> => JSON.parse(text.replace(/^\ufeff/, ''));

  it('changes these members for every reader, and nothing else', () => {
    fc.assert(
      fc.property(spelled, fc.string(), fc.nat(4095), (body, newModel, newRank) => {
        const edited = edit(body, [model(newModel), rank(String(newRank))]).toString();

        const wanted = { ...parse(body), model: newModel, data_parallel_rank: newRank };
        expect(parse(edited)).toEqual(wanted);
        // A reader to whom the first of equal names counts: without the last one of each, the value is the same.
        const values = [...edited.matchAll(/"data_parallel_rank"[ \t\r\n]*:[ \t\r\n]*(\d+)/g)].map((found) => found[1]);
        expect(new Set(values)).toEqual(new Set([String(newRank)]));
      }),
    );
  });

  it('keeps every other byte', () => {
    fc.assert(
      fc.property(spelled, fc.nat(4095), (body, newRank) => {
        const once = edit(body, [rank(String(newRank))]);

        // Written again it stays the same, and the value taken out gives what the body had around it.
        expect(edit(once, [rank(String(newRank))]).equals(once)).toBe(true);
        if (!body.includes('data_parallel_rank')) {
          const comma = Object.keys(parse(body)).length === 0 ? '' : ',';
          expect(once.toString().replace(`"data_parallel_rank":${newRank}${comma}`, '')).toBe(body);
        }
      }),
    );
  });

  it('edits a body of 8 MB in one copy', () => {
    const body = `{"messages":[{"role":"user","content":"${'x'.repeat(8_000_000)}"}],"model":"a"}`;

    const edited = edit(body, [model('canonical'), rank('1')]).toString();

    expect(edited).toBe(`{"data_parallel_rank":1,${body.slice(1).replace('"model":"a"', '"model":"canonical"')}`);
  });
});
