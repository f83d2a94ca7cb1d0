import uPlot from 'uplot';
import { byId, el, setText } from './dom.ts';
import type { Series } from './shapes.ts';
import { BRANCH_WORDS, rate, timeOf } from './words.ts';

/** What a plot shows of the series. Colours are properties of the style sheet, which has them for light and dark. */
interface Line {
  readonly name: string;
  readonly words: string;
  readonly colour: string;
  /** Tells lines apart where colours do not. */
  readonly dash: readonly number[];
}

const DECISIONS: readonly Line[] = [{ name: 'decisions', words: 'decisions', colour: '--line-1', dash: [] }];
const BRANCH_LINES: readonly (readonly [name: string, colour: string, dash: readonly number[]])[] = [
  ['occupied_hit', '--line-2', []],
  ['vacant', '--line-1', [8, 4]],
  ['occupied_miss', '--line-4', [3, 3]],
  ['cap_respill', '--line-3', [10, 3, 3, 3]],
  ['policy', '--line-5', [2, 4]],
  ['no_routing_id', '--line-5', [6, 2]],
  ['routing_key_hit', '--line-2', [12, 4]],
  ['random_fallback', '--line-5', [4, 4]],
  ['target_worker_hit', '--line-3', []],
  ['target_worker_miss', '--line-4', [8, 3]],
  ['no_healthy_workers', '--line-6', [2, 2]],
  ['refused', '--line-6', []],
  ['passed', '--line-6', [6, 3]],
];
const BRANCHES: readonly Line[] = BRANCH_LINES.map(([name, colour, dash]) => ({
  name,
  words: BRANCH_WORDS[name] ?? name,
  colour,
  dash,
}));
const HEIGHT = 128;
/** So few do not show as a line. */
const FEW_POINTS = 3;
const SPAN_SECS = 15 * 60;
/** Rows of the table: a point a minute. */
const TABLE_STEP_SECS = 60;

/** Both plots, with the same numbers as text for who cannot see them. */
export class Plots {
  readonly #rate = new Plot('Decisions per second', DECISIONS, true);
  readonly #branches = new Plot('By branch, per second', BRANCHES, false);
  readonly #table = el('tbody');
  readonly #head = el('tr');
  #series: Series | null = null;

  constructor() {
    const table = el(
      'table',
      {},
      el('caption', { class: 'unseen', text: 'Traffic by minute' }),
      el('thead', {}, this.#head),
      this.#table,
    );
    const scroll = { role: 'region', tabindex: '0', 'aria-label': 'Traffic by minute' };
    const details = el(
      'details',
      { class: 'more' },
      el('summary', { text: 'As a table' }),
      el('div', { class: 'scroll', attrs: scroll }, table),
    );
    byId('plots', 'div').append(this.#rate.place, this.#branches.place, details);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw(true));
  }

  show(series: Series): void {
    this.#series = series;
    this.#draw(false);
  }

  #draw(anew: boolean): void {
    if (this.#series === null) return;
    this.#rate.show(this.#series, anew);
    this.#branches.show(this.#series, anew);
    this.#fillTable(this.#series);
  }

  #fillTable({ at, rates }: Series): void {
    const lines = [...DECISIONS, ...moving(BRANCHES, rates)];
    this.#head.replaceChildren(
      ...['time', ...lines.map(({ words }) => words)].map((text) => el('th', { text, attrs: { scope: 'col' } })),
    );
    const rows: HTMLTableRowElement[] = [];
    let last = Number.POSITIVE_INFINITY;
    for (let i = at.length - 1; i >= 0; i--) {
      const secs = at[i] ?? 0;
      if (secs > last - TABLE_STEP_SECS) continue;
      last = secs;
      const cells = lines.map(({ name }) => el('td', { class: 'number', text: rate(rates[name]?.[i] ?? 0) }));
      rows.push(el('tr', {}, el('th', { text: timeOf(secs * 1000), attrs: { scope: 'row' } }), ...cells));
    }
    this.#table.replaceChildren(...rows);
  }
}

class Plot {
  readonly place = el('figure', { class: 'plot' });
  readonly #lines: readonly Line[];
  readonly #filled: boolean;
  readonly #canvas = el('div', { class: 'canvas', attrs: { 'aria-hidden': 'true' } });
  readonly #legend = el('ul', { class: 'legend', attrs: { 'aria-hidden': 'true' } });
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
    setText(this.#summary, summaryOf(series, lines, this.#filled));
    const names = lines.map(({ name }) => name).join();
    const data = dataOf(series, lines);
    const few = series.at.length < FEW_POINTS;
    const shape = `${names} ${few}`;
    if (anew || this.#plot === null || shape !== this.#shown) {
      this.#plot?.destroy();
      this.#plot = new uPlot(this.#options(lines, few), data, this.#canvas);
      this.#shown = shape;
      this.#legend.replaceChildren(...(this.#filled ? [] : lines.map(legendEntry)));
    } else {
      this.#plot.setData(data);
    }
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
      plugins: [hoverText(this.#summary, lines)],
    };
  }
}

/** Under the pointer the numbers of that moment stand where the latest are otherwise. */
function hoverText(place: HTMLElement, lines: readonly Line[]): uPlot.Plugin {
  return {
    hooks: {
      setCursor: (plot) => {
        const at = plot.cursor.idx ?? null;
        const secs = at === null ? undefined : plot.data[0][at];
        if (at === null || secs === undefined || (plot.cursor.left ?? -1) < 0) return;
        const values = lines.map(({ words }, i) => `${words} ${rate(plot.data[i + 1]?.[at] ?? 0)}`);
        setText(place, `${timeOf(secs * 1000)}: ${values.join(', ')}`);
      },
    },
  };
}

function summaryOf({ at, rates }: Series, lines: readonly Line[], all: boolean): string {
  const [line] = lines;
  if (at.length === 0 || line === undefined) return at.length === 0 ? 'no point yet' : 'no traffic';
  if (!all) return lines.map(({ name, words }) => `${words} ${rate(rates[name]?.at(-1) ?? 0)}`).join(', ');
  const values = rates[line.name] ?? [];
  return `now ${rate(values.at(-1) ?? 0)}, highest ${rate(Math.max(...values))}`;
}

function moving(lines: readonly Line[], rates: Series['rates']): readonly Line[] {
  return lines.filter(({ name }) => rates[name]?.some((value) => value > 0) === true);
}

function dataOf({ at, rates }: Series, lines: readonly Line[]): uPlot.AlignedData {
  return [[...at], ...lines.map(({ name }) => [...(rates[name] ?? [])])];
}

function legendEntry({ words, colour, dash }: Line): HTMLLIElement {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 24 8');
  const line = document.createElementNS(ns, 'path');
  line.setAttribute('d', 'M0 4H24');
  line.setAttribute('stroke-dasharray', dash.join(' '));
  line.style.stroke = `var(${colour})`;
  svg.append(line);
  return el('li', {}, svg, words);
}

function property(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function nowSecs(): number {
  return Date.now() / 1000;
}
