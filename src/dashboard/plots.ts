import { byId, el } from './dom.ts';
import { Plot } from './plot.ts';
import { DECISIONS, moving, NOTABLE, USUAL } from './plot-lines.ts';
import type { Series } from './shapes.ts';
import { rate, timeOf } from './words.ts';

/** Rows of the table: a point a minute. */
const TABLE_STEP_SECS = 60;

/** The plots, with the same numbers as text for who cannot see them. */
export class Plots {
  readonly #plots = [
    new Plot('Decisions per second', DECISIONS, true),
    new Plot('Pinned, new and without a key', USUAL, false),
    new Plot('Moved, refused, without a pick', NOTABLE, false),
  ];
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
    byId('plots', 'div').append(...this.#plots.map(({ place }) => place), details);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw(true));
  }

  show(series: Series): void {
    this.#series = series;
    this.#draw(false);
  }

  #draw(anew: boolean): void {
    if (this.#series === null) return;
    for (const plot of this.#plots) plot.show(this.#series, anew);
    this.#fillTable(this.#series);
  }

  #fillTable({ at, rates }: Series): void {
    const lines = [...DECISIONS, ...moving([...USUAL, ...NOTABLE], rates)];
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
