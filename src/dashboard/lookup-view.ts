import { ApiError, ask } from './api.ts';
import { decisionLine, showDecision } from './decision-dialog.ts';
import { byId, el } from './dom.ts';
import type { DecisionRow, Decisions, Pin, WorkerRow } from './shapes.ts';
import { ago, timeOf } from './words.ts';
import { workerLabel } from './workers-view.ts';

export interface LookupHooks {
  readonly workers: () => readonly WorkerRow[];
  /** Fills the form that asks where a request would go. */
  readonly explain: (key: string) => void;
}

const MOST_LINES = 6;

/** Which worker holds a key, and why its last request went where it went. */
export class LookupView {
  readonly #hooks: LookupHooks;
  readonly #form = byId('key-form', 'form');
  readonly #result = byId('key-result', 'div');
  #latest = 0;

  constructor(hooks: LookupHooks) {
    this.#hooks = hooks;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const asked = ++this.#latest;
    const fields = new FormData(this.#form);
    const key = String(fields.get('key') ?? '');
    const query = new URLSearchParams();
    for (const name of ['model', 'leg', 'tenant']) {
      const value = String(fields.get(name) ?? '').trim();
      if (value !== '') query.set(name, value);
    }
    this.#result.setAttribute('aria-busy', 'true');
    const [pin, past] = await Promise.all([
      settled(ask<Pin>(`/pins/${encodeURIComponent(key)}?${query}`)),
      settled(ask<Decisions>(`/decisions?${new URLSearchParams({ key, limit: String(MOST_LINES) })}`)),
    ]);
    if (asked !== this.#latest) return;
    this.#result.setAttribute('aria-busy', 'false');
    const again = el('button', {
      text: 'Where would its next request go?',
      attrs: { type: 'button' },
      onClick: () => this.#hooks.explain(key),
    });
    this.#result.replaceChildren(this.#pinText(key, pin), ...pastText(past), el('p', {}, again));
  }

  #pinText(key: string, pin: Settled<Pin>): HTMLElement {
    const shown = el('code', { text: key });
    if (pin instanceof ApiError) {
      if (pin.status !== 404) return el('p', { class: 'bad', text: pin.message });
      return el('p', { class: 'answer' }, 'The key ', shown, ' is on no worker: it is not pinned.');
    }
    const { worker_id: id, candidates, model, leg } = pin;
    const workers = this.#hooks.workers();
    const of = [model === null ? null : `model ${model}`, leg === 'single' ? null : `${leg} leg`]
      .filter((part) => part !== null)
      .join(', ');
    const stored =
      pin.key === key
        ? null
        : el('p', { class: 'muted' }, 'Pinned as its conversation ', el('code', { text: pin.key }), '.');
    if (id === null) {
      const held = candidates.map((each) => workerLabel(workers, each));
      return el(
        'div',
        {},
        el(
          'p',
          { class: 'answer' },
          'The key ',
          shown,
          ' was on ',
          ...joined(held),
          ', which cannot serve now: its next request is placed anew.',
        ),
        stored,
      );
    }
    const others = candidates.filter((each) => each !== id).map((each) => workerLabel(workers, each));
    const after =
      others.length === 0 ? null : el('p', { class: 'muted' }, 'Remembered beside it: ', ...joined(others), '.');
    return el(
      'div',
      {},
      el(
        'p',
        { class: 'answer' },
        'The key ',
        shown,
        ' is on ',
        workerLabel(workers, id),
        of === '' ? null : el('span', { class: 'muted', text: ` for ${of}` }),
      ),
      after,
      stored,
    );
  }
}

type Settled<T> = T | ApiError;

async function settled<T>(asked: Promise<T>): Promise<Settled<T>> {
  try {
    return await asked;
  } catch (error) {
    return error instanceof ApiError ? error : new ApiError(0, String(error));
  }
}

function pastText(past: Settled<Decisions>): readonly HTMLElement[] {
  if (past instanceof ApiError) return [el('p', { class: 'bad', text: past.message })];
  const { decisions, recording } = past;
  const [last, ...earlier] = decisions;
  if (last === undefined) {
    const since =
      recording.since === null
        ? 'Nothing is recorded (--decision-ring off).'
        : `None of its requests was recorded since ${timeOf(recording.since)}.`;
    return [el('p', { class: 'muted', text: since })];
  }
  const lines = el('ul', { class: 'lines' }, ...earlier.map(decisionLine));
  return [lastText(last), ...(earlier.length === 0 ? [] : [el('h3', { text: 'Before that' }), lines])];
}

function lastText(last: DecisionRow): HTMLElement {
  const where = last.result === 'placed' ? ` to ${last.worker ?? ''}` : '';
  const what = last.result === 'placed' ? 'went' : last.result === 'refused' ? 'was refused' : 'got no pick';
  const details = el('button', {
    class: 'quiet',
    text: 'Details',
    attrs: { type: 'button', 'aria-label': 'Details of the last request' },
    onClick: () => showDecision(last),
  });
  return el(
    'div',
    { class: 'last' },
    el(
      'h3',
      {},
      `Its last request ${what}${where}`,
      el('span', { class: 'muted', text: ` ${timeOf(last.at)}, ${ago(last.at)}` }),
    ),
    el('p', { text: last.why }),
    details,
  );
}

function joined(parts: readonly HTMLElement[]): readonly (HTMLElement | string)[] {
  return parts.flatMap((part, i) => (i === 0 ? [part] : [', ', part]));
}
