import { badge, byId, el, openDialog, setText } from './dom.ts';
import type { DecisionRow } from './shapes.ts';
import { branchWords, milliseconds, timeOf } from './words.ts';

const KINDS: Readonly<Record<string, string>> = {
  occupied_hit: 'ok',
  routing_key_hit: 'ok',
  target_worker_hit: 'ok',
  vacant: 'new',
  occupied_miss: 'wait',
  cap_respill: 'wait',
};

/** Colour of a decision's branch. */
export function resultKind({ result, branch }: DecisionRow): string {
  return result === 'placed' ? (KINDS[branch ?? ''] ?? 'plain') : 'bad';
}

/** Everything that is known of one decision, in words first. */
export function showDecision(decision: DecisionRow): void {
  const { result, worker, why } = decision;
  const title =
    result === 'placed'
      ? `Why ${worker ?? ''}?`
      : result === 'refused'
        ? 'Why was it refused?'
        : 'Why was nobody picked?';
  setText(byId('decision-title', 'h2'), title);
  const facts = factsOf(decision).filter(([, value]) => value !== null && value !== '');
  const list = el(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', { text: value ?? '' })]),
  );
  const raw = el(
    'details',
    { class: 'more' },
    el('summary', { text: 'The record' }),
    el('pre', { text: JSON.stringify(decision, null, 2), attrs: { tabindex: '0' } }),
  );
  byId('decision-body', 'div').replaceChildren(el('p', { class: 'why', text: why }), list, raw);
  openDialog(byId('decision-dialog', 'dialog'));
}

function factsOf(decision: DecisionRow): readonly (readonly [string, string | null])[] {
  const { prefill, match_ratio: ratio, fallbacks, key_source: source, pinned } = decision;
  return [
    ['Time', `${timeOf(decision.at)}.${decision.at.slice(20, 23)}, decided in ${milliseconds(decision.duration_ms)}`],
    ['Worker', decision.worker_id],
    ['Branch', decision.branch === null ? null : `${branchWords(decision.branch)} (${decision.branch})`],
    [
      'Policy',
      decision.policy === null
        ? null
        : `${decision.policy}${decision.policy_branch === null ? '' : `, ${decision.policy_branch}`}`,
    ],
    ['Prompt known', ratio === null ? null : `${Math.round(ratio * 100)} %`],
    [
      'Key',
      decision.key_hash === null ? 'none' : `hash ${decision.key_hash}${source === null ? '' : `, from ${source}`}`,
    ],
    ['Pin', pinned === 'written' ? 'written by this request' : pinned === 'kept' ? 'as it was' : null],
    ['Then', fallbacks.length === 0 ? (decision.strict ? 'nobody else may serve it' : null) : fallbacks.join(', ')],
    ['Prefill', prefill === null ? null : `${prefill.worker} (${branchWords(prefill.branch)})`],
    ['Model', decision.model],
    ['Read', decision.read === 'body' ? 'headers and body' : 'headers only'],
    ['Reason', decision.reason],
    ['Pick id', decision.pick_id],
  ];
}

/** A decision in one line, with a way to all of it. */
export function decisionLine(decision: DecisionRow): HTMLElement {
  const where = decision.result === 'placed' ? (decision.worker ?? '') : decision.result;
  const label = `Details of the request of ${timeOf(decision.at)}`;
  const details = el('button', {
    class: 'quiet',
    text: 'Details',
    attrs: { type: 'button', 'aria-label': label },
    onClick: () => showDecision(decision),
  });
  return el(
    'li',
    {},
    el('span', { class: 'mono', text: timeOf(decision.at) }),
    el('span', { text: where }),
    badge(resultKind(decision), branchWords(decision.branch)),
    details,
  );
}
