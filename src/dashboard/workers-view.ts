import { badge, byId, el, setText } from './dom.ts';
import type { EngineRank, WorkerRow } from './shapes.ts';
import { count, milliseconds, STATUS_KINDS, spaced } from './words.ts';

export interface WorkersHooks {
  /** Drains a worker, or takes that back. */
  readonly change: (worker: WorkerRow, to: 'drain' | 'undrain') => Promise<void>;
}

export interface WorkersState {
  readonly workers: readonly WorkerRow[];
  readonly mayChange: boolean;
}

type Column = 'name' | 'status' | 'load' | 'keys' | 'pins' | 'breaker';

interface RowParts {
  readonly row: HTMLTableRowElement;
  readonly update: (worker: WorkerRow, busiest: number, state: WorkersState) => void;
}

const COLUMNS: readonly (readonly [column: Column | null, title: string, kind: string])[] = [
  ['name', 'Worker', ''],
  ['status', 'Status', ''],
  ['load', 'In flight', 'number'],
  ['keys', 'Keys', 'number'],
  ['pins', 'Pins', 'number'],
  [null, 'Engine', ''],
  ['breaker', 'Breaker', ''],
  [null, 'Models', ''],
  [null, 'Last probe', ''],
  [null, 'Action', ''],
];

/** Statuses to choose from, with what they mean for a filter. */
const FILTERS: readonly (readonly [value: string, words: string, statuses: readonly string[] | null])[] = [
  ['', 'all', null],
  ['ready', 'ready', ['ready']],
  ['draining', 'draining', ['draining']],
  ['out', 'out', ['not_ready', 'failed']],
  ['pending', 'pending', ['pending']],
];

/** The table of workers: found, sorted and filtered here, changed by the service. */
export class WorkersView {
  readonly #hooks: WorkersHooks;
  readonly #find = byId('workers-find', 'input');
  readonly #status = byId('workers-status', 'select');
  readonly #body = el('tbody');
  readonly #empty = el('p', { class: 'muted hint' });
  readonly #rows = new Map<string, RowParts>();
  readonly #heads = new Map<Column, HTMLTableCellElement>();
  #state: WorkersState = { workers: [], mayChange: false };
  #sort: Column | null = null;
  #down = false;

  constructor(hooks: WorkersHooks) {
    this.#hooks = hooks;
    for (const [value, words] of FILTERS) this.#status.append(el('option', { text: words, attrs: { value } }));
    this.#find.addEventListener('input', () => this.#draw());
    this.#status.addEventListener('change', () => this.#draw());
    const head = el('tr', {}, ...COLUMNS.map(([column, title, kind]) => this.#head(column, title, kind)));
    const table = el(
      'table',
      { class: 'workers' },
      el('caption', { class: 'unseen', text: 'Workers' }),
      el('thead', {}, head),
      this.#body,
    );
    const scroll = { role: 'region', tabindex: '0', 'aria-label': 'Table of workers' };
    byId('workers-table', 'div').append(el('div', { class: 'scroll', attrs: scroll }, table), this.#empty);
  }

  show(state: WorkersState): void {
    this.#state = state;
    this.#draw();
  }

  #head(column: Column | null, title: string, kind: string): HTMLTableCellElement {
    const cell = el('th', { class: kind, attrs: { scope: 'col' } });
    if (column === null) {
      cell.textContent = title;
      return cell;
    }
    cell.append(
      el('button', { class: 'sort', text: title, attrs: { type: 'button' }, onClick: () => this.#sortBy(column) }),
    );
    this.#heads.set(column, cell);
    return cell;
  }

  /** First as it helps most: names from a, numbers from the highest; then the other way; then as registered. */
  #sortBy(column: Column): void {
    const first = column === 'load' || column === 'keys' || column === 'pins';
    if (this.#sort !== column) [this.#sort, this.#down] = [column, first];
    else if (this.#down === first) this.#down = !first;
    else this.#sort = null;
    for (const [each, cell] of this.#heads) {
      if (each === this.#sort) cell.setAttribute('aria-sort', this.#down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    }
    this.#draw();
  }

  #draw(): void {
    const { workers } = this.#state;
    const wanted = this.#find.value.trim().toLowerCase();
    const statuses = FILTERS.find(([value]) => value === this.#status.value)?.[2] ?? null;
    const shown = workers
      .filter((worker) => statuses === null || statuses.includes(worker.status))
      .filter((worker) => wanted === '' || textOf(worker).includes(wanted));
    if (this.#sort !== null) shown.sort(comparing(this.#sort, this.#down));
    const busiest = workers.reduce((most, { load }) => Math.max(most, load), 1);

    const rows = shown.map((each) => {
      const known = this.#rows.get(each.id) ?? this.#newRow(each.id);
      known.update(each, busiest, this.#state);
      return known.row;
    });
    const kept = new Set(workers.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!kept.has(id)) this.#rows.delete(id);
    if (rows.length !== this.#body.rows.length || rows.some((row, i) => this.#body.rows[i] !== row)) {
      const focused = document.activeElement;
      this.#body.replaceChildren(...rows);
      if (focused instanceof HTMLElement && this.#body.contains(focused)) focused.focus({ preventScroll: true });
    }
    const all =
      shown.length === workers.length ? count(workers.length) : `${count(shown.length)} of ${count(workers.length)}`;
    setText(byId('workers-count', 'span'), all);
    setText(
      this.#empty,
      workers.length === 0 ? 'No worker is registered.' : shown.length === 0 ? 'No worker fits.' : '',
    );
    this.#body.closest('.scroll')?.toggleAttribute('hidden', shown.length === 0);
  }

  #newRow(id: string): RowParts {
    const name = el('span', { class: 'name' });
    const url = el('span', { class: 'sub' });
    const status = el('span');
    const [load, bar] = [el('span'), el('span', { class: 'fill' })];
    const cells = { keys: el('td', { class: 'number' }), pins: el('td', { class: 'number' }) };
    const [engine, breaker, models, probe] = [
      el('td', { class: 'engine' }),
      el('span'),
      el('td', { class: 'models' }),
      el('td'),
    ];
    let latest: WorkerRow | null = null;
    const button = el('button', {
      attrs: { type: 'button' },
      onClick: () => {
        if (latest === null) return;
        button.disabled = true;
        void this.#hooks.change(latest, latest.status === 'draining' ? 'undrain' : 'drain').finally(() => {
          button.disabled = false;
          button.focus({ preventScroll: true });
        });
      },
    });
    const row = el(
      'tr',
      {},
      el('th', { attrs: { scope: 'row' } }, name, url),
      el('td', {}, status),
      el('td', { class: 'number load' }, load, el('span', { class: 'meter', attrs: { 'aria-hidden': 'true' } }, bar)),
      cells.keys,
      cells.pins,
      engine,
      el('td', {}, breaker),
      models,
      probe,
      el('td', {}, button),
    );
    const update = (worker: WorkerRow, busiest: number, state: WorkersState): void => {
      latest = worker;
      setText(name, worker.name);
      setText(
        url,
        worker.name === worker.id
          ? typeOf(worker)
          : `${worker.id}${typeOf(worker) === '' ? '' : ` · ${typeOf(worker)}`}`,
      );
      const kind = worker.overloaded ? 'wait' : (STATUS_KINDS[worker.status] ?? 'plain');
      show(status, kind, `${spaced(worker.status)}${worker.overloaded ? ', overloaded' : ''}`);
      setText(load, count(worker.load));
      bar.style.inlineSize = `${Math.round((100 * worker.load) / busiest)}%`;
      setText(cells.keys, count(worker.routing_keys));
      setText(cells.pins, worker.pins === null ? '…' : count(worker.pins));
      setText(engine, engineText(worker));
      show(breaker, STATUS_KINDS[worker.breaker] ?? '', spaced(worker.breaker));
      setText(models, worker.models.length === 0 ? 'any' : worker.models.map((model) => model.id).join(', '));
      setText(probe, probeText(worker));
      probe.className = worker.last_probe?.ok === false ? 'bad' : '';
      const drains = worker.status === 'draining';
      setText(button, drains ? 'Undrain' : 'Drain');
      button.setAttribute('aria-label', `${drains ? 'Undrain' : 'Drain'} ${worker.name}`);
      button.classList.toggle('primary', drains);
      if (state.mayChange) button.removeAttribute('aria-disabled');
      else button.setAttribute('aria-disabled', 'true');
      row.dataset['status'] = worker.status;
    };
    const parts = { row, update };
    this.#rows.set(id, parts);
    return parts;
  }
}

function show(place: HTMLElement, kind: string, text: string): void {
  setText(place, text);
  place.className = kind === '' ? '' : `badge ${kind}`;
}

function textOf({ id, name, models }: WorkerRow): string {
  return `${id} ${name} ${models.map((model) => model.id).join(' ')}`.toLowerCase();
}

function typeOf({ worker_type: type }: WorkerRow): string {
  return type === 'regular' ? '' : type;
}

function comparing(column: Column, down: boolean): (one: WorkerRow, other: WorkerRow) => number {
  const sign = down ? -1 : 1;
  return (one, other) =>
    sign * compare(column, one, other) || one.name.localeCompare(other.name, 'en', { numeric: true });
}

function compare(column: Column, one: WorkerRow, other: WorkerRow): number {
  if (column === 'load') return one.load - other.load;
  if (column === 'keys') return one.routing_keys - other.routing_keys;
  if (column === 'pins') return (one.pins ?? 0) - (other.pins ?? 0);
  return one[column].localeCompare(other[column], 'en', { numeric: true });
}

function engineText({ engine_load: engine }: WorkerRow): string {
  if (engine === null || engine.loads.length === 0) return '–';
  const sum = (of: (rank: EngineRank) => number | undefined): number =>
    engine.loads.reduce((all, rank) => all + (of(rank) ?? 0), 0);
  const usage = sum((rank) => rank.token_usage) / engine.loads.length;
  return `${count(sum((rank) => rank.num_running_reqs))} run · ${count(sum((rank) => rank.num_waiting_reqs))} wait · KV ${Math.round(usage * 100)} %`;
}

function probeText({ last_probe: probe }: WorkerRow): string {
  if (probe === null) return '–';
  return probe.ok ? `ok, ${milliseconds(probe.duration_ms)}` : probe.detail;
}

/** Where a worker is shown by its id: name and status. */
export function workerLabel(workers: readonly WorkerRow[], id: string): HTMLElement {
  const worker = workers.find((each) => each.id === id);
  if (worker === undefined) return el('span', {}, el('strong', { text: id }), ' ', badge('plain', 'gone'));
  return el(
    'span',
    {},
    el('strong', { text: worker.name }),
    ' ',
    badge(STATUS_KINDS[worker.status] ?? 'plain', spaced(worker.status)),
  );
}
