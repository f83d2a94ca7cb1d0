import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSeries } from './prometheus-text.ts';

const A = 'vllm:a';
const read = (text: string) => readSeries(text, new Set([A])).get(A);

describe('Prometheus text exposition', () => {
  it.each([
    { text: 'vllm:a 2', sum: 2 },
    { text: 'vllm:a 2\nvllm:a{e="1"} 3\n', sum: 5 },
    { text: '# HELP vllm:a 7\n# TYPE vllm:a gauge\nvllm:a{e="0"} 2\n', sum: 2 },
    { text: 'vllm:a 2 1395066363000\n', sum: 2 },
    { text: 'vllm:a{e="1"}2', sum: 2 },
    { text: '  vllm:a \t 2 \r\n', sum: 2 },
    { text: 'vllm:a {e="1"} 2', sum: 2 },
    { text: 'vllm:a{e="x } 9 \\" } 9"} 2', sum: 2 },
    { text: 'vllm:a{e="\\\\"} 2', sum: 2 },
    { text: 'vllm:a 1e3', sum: 1000 },
    { text: 'vllm:a -0.5', sum: -0.5 },
    { text: 'vllm:a NaN\nvllm:a{e="1"} 2', sum: 2 },
    { text: 'vllm:a +Inf\nvllm:a{e="1"} -Inf\nvllm:a{e="2"} 2', sum: 2 },
    { text: 'vllm:a 1e300\nvllm:a{e="1"} 2', sum: 2 },
    { text: 'vllm:ab 1\nvllm:a_total 1\nvllm: 1\nb 1\nvllm:a 2', sum: 2 },
    { text: '\n\n\nvllm:a 2', sum: 2 },
  ])('$text: $sum', ({ text, sum }) => {
    expect(read(text)?.sum).toBe(sum);
  });

  it.each(['', 'vllm:a', 'vllm:a ', 'vllm:a x', 'vllm:a{e="1"', 'vllm:a{e="1} 2', 'vllm:a NaN', '#vllm:a 1'])(
    '%j holds no sample',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it('counts the series that it sums', () => {
    expect(read('vllm:a 2\nvllm:a{e="1"} 3\nvllm:a{e="2"} x\n')).toEqual({ sum: 5, count: 2 });
  });

  it('finds the samples again that were written between any other lines', () => {
    const label = fc.string().map((value) => value.replace(/[\\"\n]/g, '\\$&').replaceAll('\\\n', '\\n'));
    const sample = fc.tuple(fc.option(label, { nil: null }), fc.integer()).map(([value, number]) => ({
      line: value === null ? `vllm:a ${number}` : `vllm:a{l="${value}"} ${number}`,
      number,
    }));
    const other = fc.string().map((text) => `# ${text.replaceAll('\n', '')}`);

    fc.assert(
      fc.property(fc.array(fc.tuple(sample, other)), (pairs) => {
        const text = pairs.flatMap(([{ line }, comment]) => [line, comment]).join('\n');
        const sum = pairs.reduce((total, [{ number }]) => total + number, 0);

        expect(read(text)?.sum ?? 0).toBe(sum);
        expect(read(text)?.count ?? 0).toBe(pairs.length);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    const piece = fc.constantFrom(A, '{', '}', '"', '\\', ' ', '\n', '1', 'NaN', '#', '\t', '=', ',');

    fc.assert(fc.property(fc.array(piece), (pieces) => readSeries(pieces.join(''), new Set([A])).size <= 1));
    fc.assert(fc.property(fc.string(), (text) => readSeries(text, new Set([A])).size <= 1));
  });
});
