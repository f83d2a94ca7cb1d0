import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Definition } from './definition.ts';
import { counter, gauge, histogram, initialSeries, label } from './definition.ts';
import { Cell, HistogramCell, Instrument } from './instruments.ts';
import { LabelCap, LabelCaps } from './label-cap.ts';

const zero = () => new Cell();

function series(instrument: Instrument<never, unknown>): string[] {
  const found: string[] = [];
  instrument.forEach((values) => {
    found.push(values.join('/'));
  });
  return found;
}

describe('decisions 36 series at the start', () => {
  it.each([
    ['no label', counter('a_total', '', []), [[]]],
    ['one list', counter('a_total', '', [label('x', ['p', 'q'])]), [['p'], ['q']]],
    [
      'two lists',
      counter('a_total', '', [label('x', ['p', 'q']), label('y', ['1', '2'])]),
      [
        ['p', '1'],
        ['p', '2'],
        ['q', '1'],
        ['q', '2'],
      ],
    ],
    ['an open label', counter('a_total', '', [label('x', ['p']), label('w', 'operator')]), []],
    ['a named subset', counter('a_total', '', [label('x', ['p', 'q'])], [['q']]), [['q']]],
  ])('%s', (_title, definition, expected) => {
    expect(initialSeries(definition)).toEqual(expected);
    const instrument = new Instrument(definition as Definition, zero);
    expect(series(instrument as never)).toEqual(expected.map((values) => values.join('/')));
  });
});

describe('a series', () => {
  it('is the same cell for the same label values', () => {
    const instrument = new Instrument(counter('a_total', '', [label('x', ['p', 'q']), label('w', 'operator')]), zero);

    const cell = instrument.cell('p', 'http://a');
    cell.value += 2;

    expect(instrument.cell('p', 'http://a')).toBe(cell);
    expect(instrument.cell('q', 'http://a').value).toBe(0);
    expect(instrument.cell('p', 'http://b').value).toBe(0);
  });

  it('keeps apart label values whose concatenation is equal', () => {
    const instrument = new Instrument(gauge('a', '', [label('x', 'operator'), label('y', 'operator')]), zero);

    instrument.cell('ab', 'c').value = 1;
    instrument.cell('a', 'bc').value = 2;
    instrument.cell('__proto__', '').value = 3;

    expect(instrument.cell('ab', 'c').value).toBe(1);
    expect(instrument.cell('a', 'bc').value).toBe(2);
    expect(instrument.cell('__proto__', '').value).toBe(3);
  });

  it('is gone after remove and starts anew afterwards', () => {
    const instrument = new Instrument(gauge('a', '', [label('w', 'operator'), label('x', 'operator')]), zero);
    instrument.cell('a', '1').value = 7;
    instrument.cell('b', '1').value = 8;

    instrument.remove('a', '1');
    instrument.remove('never', 'there');

    expect(series(instrument as never)).toEqual(['b/1']);
    expect(instrument.cell('a', '1').value).toBe(0);
  });

  it('does not survive clear', () => {
    const instrument = new Instrument(gauge('a', '', [label('w', 'operator')]), zero);
    instrument.cell('a').value = 7;

    instrument.clear();

    expect(series(instrument as never)).toEqual([]);
  });
});

describe('policies 8.3 labels taken from requests', () => {
  const definition = counter('a_total', '', [label('model', 'request'), label('x', ['p', 'q'])]);

  it('share other once 1,024 distinct values are kept', () => {
    const instrument = new Instrument(definition, zero);

    for (let i = 0; i < 1024; i++) instrument.cell(`m${i}`, 'p').value += 1;
    for (let i = 0; i < 3000; i++) instrument.cell(`late${i}`, 'p').value += 1;
    instrument.cell('m0', 'q').value += 1;

    expect(instrument.cell('other', 'p').value).toBe(3000);
    expect(instrument.cell('m7', 'p').value).toBe(1);
    expect(series(instrument as never).length).toBe(1024 + 1 + 1);
  });

  it('are bounded by one cap for all metrics', () => {
    const caps = new LabelCaps(2);
    const first = new Instrument(definition, zero, caps);
    const second = new Instrument(definition, zero, caps);

    first.cell('m1', 'p').value += 1;
    first.cell('m2', 'p').value += 1;
    second.cell('m3', 'p').value += 1;
    second.cell('m2', 'p').value += 1;

    expect(series(second as never)).toEqual(['other/p', 'm2/p']);
  });

  it('never exceed the limit, and a kept value stays kept', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 })), fc.nat(5), (values, limit) => {
        const cap = new LabelCap(limit);
        const admitted = values.map((value) => cap.admit(value));
        const kept = new Set(admitted.filter((value, i) => value === values[i]));
        expect(new Set([...kept].filter((value) => value !== 'other')).size).toBeLessThanOrEqual(limit);
        values.forEach((value, i) => {
          if (admitted[i] === value) expect(cap.admit(value)).toBe(value);
          else expect(admitted[i]).toBe('other');
        });
      }),
    );
  });
});

describe('a histogram', () => {
  it('counts a value in the first bucket whose bound is not below it', () => {
    const instrument = new Instrument(histogram('a', '', [1, 5], []), () => new HistogramCell([1, 5]));

    for (const value of [0, 1, 1.01, 5, 5.01, 1e9]) instrument.cell().observe(value);

    expect(instrument.cell().counts).toEqual([2, 2, 2]);
    expect(instrument.cell().sum).toBeCloseTo(1_000_000_012.02);
  });
});
