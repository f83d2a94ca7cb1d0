import { ApiError, eventsOf, listen } from './api.ts';
import { resultKind, showDecision } from './decision-dialog.ts';
import { badge, byId, el, setText } from './dom.ts';
import type { DecisionRow, Recording } from './shapes.ts';
import { BRANCH_WORDS, branchWords, count, milliseconds, timeOf } from './words.ts';

/** Rows that the table keeps. */
const MOST_ROWS = 100;
const RETRY_MS = 2000;
const COLUMNS = ['Time', 'Went to', 'Branch', 'Key hash', 'Model', 'Read', 'Took', 'Why'] as const;

/** Decisions as they are made. */
export class DecisionsView {
  readonly #form = byId('decisions-form', 'form');
  readonly #worker: HTMLSelectElement;
  readonly #pause = byId('decisions-pause', 'button');
  readonly #status = byId('decisions-status', 'p');
  readonly #body = el('tbody');
  readonly #place = byId('decisions-table', 'div');
  #reading: AbortController | null = null;
  #paused = false;
  #waiting: DecisionRow[] = [];
  #leftOut = 0;
  #shown = 0;
  #recording: Recording | null = null;
  #workers = '';
  #trouble = '';

  constructor() {
    this.#worker = this.#form.elements.namedItem('worker') as HTMLSelectElement; // as index.html has it
    const branch = this.#form.elements.namedItem('branch') as HTMLSelectElement;
    branch.append(el('option', { text: 'all', attrs: { value: '' } }));
    for (const [value, text] of Object.entries(BRANCH_WORDS)) {
      if (value !== 'refused' && value !== 'passed') branch.append(el('option', { text, attrs: { value } }));
    }
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.start();
    });
    for (const select of [this.#worker, branch]) select.addEventListener('change', () => this.start());
    this.#pause.addEventListener('click', () => this.#setPaused(!this.#paused));
    const head = el(
      'tr',
      {},
      ...COLUMNS.map((text) => el('th', { text, class: text === 'Took' ? 'number' : '', attrs: { scope: 'col' } })),
    );
    const table = el(
      'table',
      { class: 'decisions' },
      el('caption', { class: 'unseen', text: 'Live decisions, the latest first' }),
      el('thead', {}, head),
      this.#body,
    );
    this.#place.append(
      el(
        'div',
        { class: 'scroll', attrs: { role: 'region', tabindex: '0', 'aria-label': 'Table of decisions' } },
        table,
      ),
    );
    this.#place.hidden = true;
  }

  /** Names for the filter. */
  showWorkers(workers: readonly { readonly id: string; readonly name: string }[]): void {
    const names = JSON.stringify(workers.map(({ id }) => id));
    if (names === this.#workers) return;
    this.#workers = names;
    const { value } = this.#worker;
    const options = workers.map(({ id, name }) => el('option', { text: name, attrs: { value: id } }));
    this.#worker.replaceChildren(el('option', { text: 'all', attrs: { value: '' } }), ...options);
    this.#worker.value = workers.some(({ id }) => id === value) ? value : '';
  }

  /** Begins to read, with the filters as they stand. */
  start(): void {
    this.stop();
    const reading = new AbortController();
    this.#reading = reading;
    this.#body.replaceChildren();
    this.#waiting = [];
    this.#leftOut = 0;
    this.#shown = 0;
    void this.#read(`/decisions/stream?${this.#query()}`, reading);
  }

  stop(): void {
    this.#reading?.abort();
    this.#reading = null;
  }

  async #read(path: string, reading: AbortController): Promise<void> {
    try {
      for await (const { name, data } of eventsOf(await listen(path, reading.signal))) {
        this.#trouble = '';
        if (name === 'decision') this.#take(JSON.parse(data) as DecisionRow);
        if (name === 'recording') this.#recording = JSON.parse(data) as Recording;
        if (name === 'skipped') {
          const { overwritten, sampled, unrecorded } = JSON.parse(data) as Readonly<Record<string, number>>;
          this.#leftOut += (overwritten ?? 0) + (sampled ?? 0) + (unrecorded ?? 0);
        }
        this.#tell();
      }
      this.#trouble = 'The service ended the stream.';
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#trouble = error instanceof ApiError ? error.message : 'The stream was cut off.';
      if (error instanceof ApiError && (error.status === 401 || error.status === 409)) return this.#tell();
    }
    this.#tell();
    setTimeout(() => {
      if (this.#reading === reading) this.start();
    }, RETRY_MS);
  }

  #query(): string {
    const query = new URLSearchParams({ limit: '50', rate: '100' });
    const fields = new FormData(this.#form);
    for (const name of ['worker', 'branch']) {
      const value = String(fields.get(name) ?? '');
      if (value !== '') query.set(name, value);
    }
    const key = String(fields.get('key') ?? '').trim();
    if (key !== '') query.set(/^[0-9a-f]{12}$/.test(key) ? 'key_hash' : 'key', key);
    return String(query);
  }

  #take(decision: DecisionRow): void {
    if (this.#paused) {
      this.#waiting.push(decision);
      if (this.#waiting.length > MOST_ROWS) this.#waiting.shift();
      return;
    }
    this.#place.hidden = false;
    this.#body.prepend(rowOf(decision));
    this.#shown += 1;
    while (this.#body.rows.length > MOST_ROWS) this.#body.rows[this.#body.rows.length - 1]?.remove();
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#pause.setAttribute('aria-pressed', String(paused));
    setText(this.#pause, paused ? 'Go on' : 'Pause');
    if (!paused) for (const decision of this.#waiting.splice(0)) this.#take(decision);
    this.#tell();
  }

  #tell(): void {
    setText(this.#status, this.#trouble === '' ? this.#summary() : this.#trouble);
    this.#place.hidden = this.#body.rows.length === 0;
  }

  #summary(): string {
    const since = this.#recording?.since ?? null;
    const recorded = since === null ? '' : `Recorded since ${timeOf(since)}. `;
    const left = this.#leftOut === 0 ? '' : ` ${count(this.#leftOut)} left out to keep up; filter to see fewer.`;
    if (this.#paused) return `${recorded}Paused.`;
    return this.#shown === 0 ? `${recorded}No request yet.` : `${recorded}Newest first.${left}`;
  }
}

function rowOf(decision: DecisionRow): HTMLTableRowElement {
  const { at, worker, branch, result, reason, key_hash: hash, model, read, duration_ms: took } = decision;
  const went =
    result === 'placed'
      ? el('strong', { text: worker ?? '' })
      : badge('bad', result === 'passed' ? 'no pick' : 'refused');
  const button = el('button', {
    class: 'quiet',
    text: 'Why?',
    attrs: { type: 'button', 'aria-label': `Why did the request of ${timeOf(at)} go to ${worker ?? 'nobody'}?` },
    onClick: () => showDecision(decision),
  });
  return el(
    'tr',
    {},
    el('td', { class: 'mono', text: `${timeOf(at)}.${at.slice(20, 23)}` }),
    el('td', {}, went),
    el(
      'td',
      {},
      badge(resultKind(decision), result === 'placed' ? branchWords(branch) : (reason ?? '').replaceAll('_', ' ')),
    ),
    el('td', { class: 'mono', text: hash ?? '–' }),
    el('td', { text: model ?? '–' }),
    el('td', { text: read }),
    el('td', { class: 'number', text: milliseconds(took) }),
    el('td', {}, button),
  );
}
