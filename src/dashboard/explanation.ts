import { badge, el } from './dom.ts';
import type { ExplainedLeg, ExplainedWorker, Explanation } from './shapes.ts';
import { branchWords, count, spaced } from './words.ts';

/** The answer of a dry run: where to, why, and every worker with what spoke for and against it. */
export function explanationOf(answer: Explanation): readonly HTMLElement[] {
  const { legs, why, fallbacks } = answer;
  const facts: readonly (readonly [string, string | null])[] = [
    ['Model', answer.model],
    ['Policy', answer.policy],
    ['Body', `${answer.body.read ? 'read' : 'not read'}: ${spaced(answer.body.reason)}`],
    ['Then', fallbacks.length === 0 ? null : fallbacks.join(', ')],
  ];
  const raw = el(
    'details',
    { class: 'more' },
    el('summary', { text: 'The whole answer' }),
    el('pre', { text: JSON.stringify(answer, null, 2), attrs: { tabindex: '0' } }),
  );
  return [
    headline(answer),
    el('p', { text: why }),
    factList(facts),
    ...legs.flatMap((leg) => legParts(leg, legs.length > 1)),
    raw,
  ];
}

function headline({ result, worker, branch, refusal }: Explanation): HTMLElement {
  if (result === 'placed') {
    return el(
      'p',
      { class: 'answer' },
      'It would go to ',
      el('strong', { text: worker ?? '' }),
      ' ',
      badge('plain', branchWords(branch)),
    );
  }
  if (result === 'passed') return el('p', { class: 'answer' }, badge('bad', 'no pick'), ' Envoy would choose.');
  const status = refusal === null ? '' : ` with ${refusal.status}: ${refusal.message}`;
  return el('p', { class: 'answer' }, badge('bad', 'refused'), status);
}

function factList(facts: readonly (readonly [string, string | null])[]): HTMLElement {
  const known = facts.filter(([, value]) => value !== null && value !== '');
  return el(
    'dl',
    { class: 'facts' },
    ...known.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', { text: value ?? '' })]),
  );
}

function legParts(leg: ExplainedLeg, several: boolean): readonly HTMLElement[] {
  const title = several ? [el('h3', { text: `The ${leg.leg} leg` })] : [];
  return [
    ...title,
    factList([
      ['Key', keyText(leg)],
      ['Pin', pinText(leg)],
    ]),
    workersTable(leg),
  ];
}

const USES: Readonly<Record<string, string>> = {
  pin: 'keeps it on a worker',
  ring: 'is hashed',
  count: 'only counts as in flight',
};

function keyText({ key }: ExplainedLeg): string {
  if (key === null) return 'none';
  const source = key.source === null ? '' : ` from ${key.source}`;
  const dropped = key.dropped_suffix === '' ? '' : `; “${key.dropped_suffix}” was left off`;
  return `hash ${key.hash}${source}, ${USES[key.use] ?? key.use}${dropped}`;
}

function pinText({ pin }: ExplainedLeg): string | null {
  if (pin === null) return null;
  const after =
    pin.after === 'written' ? 'it would be written' : pin.after === 'kept' ? 'it would stay' : 'nothing would change';
  if (!pin.held) return `none yet; ${after}`;
  const held = pin.candidates.map(({ worker_id: id, serves, in_flight: running }) => {
    const busy = running > 0 ? `, ${running} of its requests there` : '';
    return `${id}${serves ? '' : ' (cannot serve)'}${busy}`;
  });
  const idle = pin.idle_secs === null ? '' : `, last used ${Math.round(pin.idle_secs)} s ago`;
  return `${held.join(', then ')}${idle}; ${after}`;
}

function workersTable({ leg, workers }: ExplainedLeg): HTMLElement {
  const weights = [...new Set(workers.flatMap((worker) => Object.keys(worker.weights)))];
  const titles = ['Worker', 'Chosen', 'Can take it', 'In flight', ...weights.map(spaced)];
  const head = el(
    'tr',
    {},
    ...titles.map((text, i) => el('th', { text, class: i > 2 ? 'number' : '', attrs: { scope: 'col' } })),
  );
  const rows = [...workers].sort((one, other) => rank(one) - rank(other)).map((worker) => workerRow(worker, weights));
  const name = `Workers of the ${leg} leg`;
  const table = el(
    'table',
    {},
    el('caption', { class: 'unseen', text: name }),
    el('thead', {}, head),
    el('tbody', {}, ...rows),
  );
  return el('div', { class: 'scroll', attrs: { role: 'region', tabindex: '0', 'aria-label': name } }, table);
}

/** The chosen first, then those that could have been. */
function rank({ place, eligible }: ExplainedWorker): number {
  return place ?? (eligible ? 1e6 : 2e6);
}

function workerRow(worker: ExplainedWorker, weights: readonly string[]): HTMLTableRowElement {
  const { place, eligible, keeps_pins: keeps } = worker;
  const chosen = place === null ? '–' : place === 0 ? 'picked' : `fallback ${place}`;
  const against = worker.why_not.map(spaced).join(', ');
  const takes = eligible ? 'yes' : keeps ? `pinned keys only: ${against}` : `no: ${against}`;
  return el(
    'tr',
    {},
    el('th', { text: worker.worker, attrs: { scope: 'row' } }),
    el('td', {}, place === 0 ? badge('ok', chosen) : chosen),
    el('td', { text: takes }),
    el('td', { class: 'number', text: count(worker.in_flight) }),
    ...weights.map((name) => el('td', { class: 'number', text: weightText(worker.weights[name]) })),
  );
}

function weightText(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return Number.isInteger(value) ? count(value) : value.toPrecision(4);
}
