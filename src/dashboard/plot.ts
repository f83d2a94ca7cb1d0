import uPlot from 'uplot';
import { el, setText } from './dom.ts';
import { type Line, moving } from './plot-lines.ts';
import type { Series } from './shapes.ts';
import { rate, timeOf } from './words.ts';

const HEIGHT = 112;
/** So few do not show as a line. */
const FEW_POINTS = 3;
const SPAN_SECS = 15 * 60;

/** One plot over time, with its latest numbers as text. */
export class Plot {
  readonly place = el('figure', { class: 'plot' });
  readonly #lines: readonly Line[];
  readonly #filled: boolean;
  readonly #canvas = el('div', { class: 'canvas', attrs: { 'aria-hidden': 'true' } });
  readonly #legend = el('ul', { class: 'legend' });
  #values: readonly HTMLElement[] = [];
  readonly #summary = el('span', { class: 'now' });
  #plot: uPlot | null = null;
  #shown = '';

  constructor(title: string, lines: readonly Line[], filled: boolean) {
    this.#lines = lines;
    this.#filled = filled;
    const caption = el('figcaption', {}, el('span', { text: title }), this.#summary);
    this.place.append(caption, this.#canvas, this.#legend);
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#width, height: HEIGHT })).observe(this.#canvas);
  }

  show(series: Series, anew: boolean): void {
    const lines = this.#filled ? this.#lines : moving(this.#lines, series.rates);
    const empty = series.at.length === 0 ? 'no point yet' : lines.length === 0 ? 'none' : '';
    setText(this.#summary, empty === '' && this.#filled ? summaryOf(series, lines) : empty);
    this.#canvas.hidden = lines.length === 0;
    const data = dataOf(series, lines);
    const few = series.at.length < FEW_POINTS;
    const shape = `${lines.map(({ name }) => name).join()} ${few}`;
    if (anew || this.#plot === null || shape !== this.#shown) {
      this.#plot?.destroy();
      this.#values = lines.map(() => el('span', { class: 'value' }));
      if (!this.#filled)
        this.#legend.replaceChildren(...lines.map((line, i) => legendEntry(line, this.#values[i] ?? null)));
      this.#plot = new uPlot(this.#options(lines, few), data, this.#canvas);
      this.#shown = shape;
    } else {
      this.#plot.setData(data);
    }
    this.#tell(data, data[0].length - 1);
  }

  /** Writes the numbers of one point beside the names. */
  #tell(data: uPlot.AlignedData, at: number): void {
    for (const [i, value] of this.#values.entries()) setText(value, rate(data[i + 1]?.[at] ?? 0));
  }

  get #width(): number {
    return Math.max(200, Math.floor(this.#canvas.clientWidth));
  }

  #options(lines: readonly Line[], few: boolean): uPlot.Options {
    const [ink, grid] = [property('--muted'), property('--grid')];
    const axis = {
      stroke: ink,
      font: '12px system-ui, sans-serif',
      ticks: { show: false },
      grid: { stroke: grid, width: 1 },
    };
    return {
      width: this.#width,
      height: HEIGHT,
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'traffic' } },
      scales: {
        x: { time: true, range: () => [nowSecs() - SPAN_SECS, nowSecs()] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.15)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          space: 90,
          values: (_plot, at) => at.map((secs) => timeOf(secs * 1000).slice(0, 5)),
        },
        { ...axis, size: 46, space: 32, values: (_plot, values) => values.map((value) => String(value)) },
      ],
      series: [
        {},
        ...lines.map(({ words, colour, dash }) => ({
          label: words,
          stroke: property(colour),
          width: 2,
          dash: [...dash],
          points: { show: few, size: 6 },
          ...(this.#filled ? { fill: property('--line-fill') } : {}),
        })),
      ],
      hooks: { setCursor: [(plot) => this.#pointedAt(plot, lines)] },
    };
  }

  /** Under the pointer the numbers of that moment stand where the latest are otherwise. */
  #pointedAt({ cursor, data }: uPlot, lines: readonly Line[]): void {
    const at = cursor.idx ?? null;
    const secs = at === null ? undefined : data[0][at];
    if (at === null || secs === undefined || (cursor.left ?? -1) < 0) return;
    const value = this.#filled && lines.length > 0 ? `: ${rate(data[1]?.[at] ?? 0)}` : '';
    setText(this.#summary, `${timeOf(secs * 1000)}${value}`);
    this.#tell(data, at);
  }
}

function summaryOf({ rates }: Series, [line]: readonly Line[]): string {
  const values = rates[line?.name ?? ''] ?? [];
  return `now ${rate(values.at(-1) ?? 0)}, highest ${rate(Math.max(...values))}`;
}

function dataOf({ at, rates }: Series, lines: readonly Line[]): uPlot.AlignedData {
  return [[...at], ...lines.map(({ name }) => [...(rates[name] ?? [])])];
}

function legendEntry({ words, colour, dash }: Line, value: HTMLElement | null): HTMLLIElement {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 24 8');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(ns, 'path');
  line.setAttribute('d', 'M0 4H24');
  line.setAttribute('stroke-dasharray', dash.join(' '));
  line.style.stroke = `var(${colour})`;
  svg.append(line);
  return el('li', {}, svg, words, value);
}

function property(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function nowSecs(): number {
  return Date.now() / 1000;
}
