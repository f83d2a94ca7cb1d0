import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { counter, gauge, histogram, label } from './definition.ts';
import { renderText } from './exposition.ts';
import { Cell, HistogramCell, Instrument } from './instruments.ts';

describe('Prometheus text format 0.0.4', () => {
  it('writes help, type and series in this order, one line each', () => {
    const requests = new Instrument(counter('a_total', 'All of them.', [label('x', ['p', 'q'])]), () => new Cell());
    requests.cell('q').value = 3;

    expect(renderText([requests])).toBe(
      '# HELP a_total All of them.\n# TYPE a_total counter\na_total{x="p"} 0\na_total{x="q"} 3\n',
    );
  });

  it('writes cumulative buckets with the infinite one, then sum and count', () => {
    const seconds = new Instrument(
      histogram('s', 'S', [0.1, 2], [label('k', ['b'])]),
      () => new HistogramCell([0.1, 2]),
    );
    for (const value of [0.05, 0.1, 1, 7]) seconds.cell('b').observe(value);

    expect(renderText([seconds]).split('\n').slice(2)).toEqual([
      's_bucket{k="b",le="0.1"} 2',
      's_bucket{k="b",le="2"} 3',
      's_bucket{k="b",le="+Inf"} 4',
      's_sum{k="b"} 8.15',
      's_count{k="b"} 4',
      '',
    ]);
  });

  it.each([
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [1e21, '1e+21'],
    [-1, '-1'],
  ])('writes the value %d as %s', (value, text) => {
    const instrument = new Instrument(gauge('g', 'G', []), () => new Cell());
    instrument.cell().value = value;

    expect(renderText([instrument])).toContain(`\ng ${text}\n`);
  });

  it('asks a gauge for its value at each scrape', () => {
    const instrument = new Instrument(gauge('g', 'G', []), () => new Cell());
    let outside = 1;
    instrument.onScrape(() => {
      instrument.cell().value = outside;
    });

    expect(renderText([instrument])).toContain('\ng 1\n');
    outside = 2;
    expect(renderText([instrument])).toContain('\ng 2\n');
  });

  it('is empty without instruments', () => {
    expect(renderText([])).toBe('');
  });

  it('gives back every label value, help text and number through a parser', () => {
    const text = fc.string({ unit: 'grapheme' });
    const hostile = fc.array(fc.constantFrom('\\', '"', '\n', 'n', '{', '}', ',', '=', ' ', '#'));
    const anyText = fc.oneof(
      text,
      hostile.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.uniqueArray(anyText, { maxLength: 6 }), anyText, fc.double(), (values, help, number) => {
        const instrument = new Instrument(
          gauge('g', help, [label('a', 'operator'), label('b', 'operator')]),
          () => new Cell(),
        );
        for (const value of values) instrument.cell(value, `${value}"`).value = number;

        const parsed = parseExposition(renderText([instrument]));

        expect(parsed.help.get('g')).toBe(help);
        expect(parsed.samples).toEqual(
          values.map((value) => ({
            name: 'g',
            labels: { a: value, b: `${value}"` },
            value: number === 0 ? 0 : number,
          })),
        );
      }),
    );
  });
});
