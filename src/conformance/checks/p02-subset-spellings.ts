import type { Check } from '../check.ts';
import { addressOf } from '../endpoint.ts';
import { hinted } from '../fleet.ts';
import { NOBODY, NOBODY_IPV6, SUBSET, SUBSET_NAMESPACE } from '../names.ts';
import type { Outcome } from '../outcome.ts';

/** A spelling of the hint around one endpoint, and who may be picked by it. */
interface Spelling {
  readonly title: string;
  readonly value: (endpoint: string) => unknown;
  readonly allowed: 'it' | 'its address' | 'nobody';
}

/** Spellings that the text fixes, and the robust reading of what else arrives (endpoint-picker-protocol 2). */
const SPELLINGS: readonly Spelling[] = [
  { title: 'a list of one ip:port', value: (it) => [it], allowed: 'it' },
  { title: 'a list with unknown endpoints around it', value: (it) => [NOBODY, it, NOBODY_IPV6], allowed: 'it' },
  { title: 'a list with blanks and empty parts', value: (it) => ['', ` ${it} `], allowed: 'it' },
  { title: 'a list with parts of other types', value: (it) => [7, null, it], allowed: 'it' },
  { title: 'the same endpoint twice', value: (it) => [it, it], allowed: 'it' },
  { title: 'a string', value: (it) => it, allowed: 'it' },
  { title: 'a comma-joined string with blanks', value: (it) => ` ${NOBODY} ,, ${it} ,`, allowed: 'it' },
  { title: 'a list of a bare ip', value: (it) => [addressOf(it)], allowed: 'its address' },
  { title: 'a string of a bare ip', value: (it) => addressOf(it), allowed: 'its address' },
  { title: 'the ip with a port that nobody has', value: (it) => [`${bracketed(it)}:9`], allowed: 'nobody' },
  { title: 'unknown endpoints only', value: () => [NOBODY], allowed: 'nobody' },
  { title: 'an unknown IPv6 endpoint', value: () => [NOBODY_IPV6], allowed: 'nobody' },
  { title: 'an unknown bare IPv6 address', value: () => '2001:db8::7', allowed: 'nobody' },
  { title: 'an empty list', value: () => [], allowed: 'nobody' },
  { title: 'an empty string', value: () => '', allowed: 'nobody' },
  { title: 'a list of empty strings', value: () => ['', ' '], allowed: 'nobody' },
  { title: 'text that is no address', value: () => 'nobody here', allowed: 'nobody' },
  { title: 'a number', value: () => 7, allowed: 'nobody' },
  { title: 'true', value: () => true, allowed: 'nobody' },
  { title: 'null', value: () => null, allowed: 'nobody' },
  { title: 'an object', value: (it) => ({ [it]: true }), allowed: 'nobody' },
];

/** P2: the subset hint in every spelling. How a refusal has to look is for P4. */
export const subsetSpellings: Check = {
  id: 'P2',
  title: 'Subset hint in every spelling; nothing is picked where nothing matches',
  source: 'Endpoint Picker Protocol: subset; robust reading of other spellings',
  async run(context, findings) {
    const { endpoints } = await context.fleet();
    if (endpoints.length === 0) {
      findings.unjudged('a subset of the endpoints', 'the picker names no endpoint');
      return;
    }
    if (endpoints.length === 1) {
      findings.unjudged('a subset of the endpoints', 'a fleet of one endpoint: give the picker at least two');
    }
    for (const spelling of SPELLINGS) {
      const all = hinted(endpoints);
      const tries = spelling.allowed === 'nobody' ? all.slice(0, 2) : all;
      const plans = tries.map((it) =>
        context.requests.plan(spelling.title, {
          metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: spelling.value(it) } },
        }),
      );
      const outcomes = await context.playAll(plans);
      const wrong = outcomes.findIndex((outcome, index) => !obeys(outcome, spelling, tries[index] ?? ''));
      const at = Math.max(wrong, 0);
      const value = JSON.stringify(spelling.value(tries[at] ?? ''));
      const expected = spelling.allowed === 'nobody' ? 'a refusal' : `a pick of ${spelling.allowed}`;
      findings.expect(wrong < 0, `subset hint ${value}: ${spelling.title}`, expected, outcomes[at]?.summary ?? '');
    }
    await lateHint(context, findings, endpoints);
    const [absent] = await context.playAll([
      context.requests.plan('the namespace without the key', { metadata: { [SUBSET_NAMESPACE]: { other: [] } } }),
    ]);
    findings.expect(absent?.first != null, 'the namespace without the key', 'a pick from all', absent?.summary ?? '');
  },
};

/** The hint may come with any message (endpoint-picker-protocol 2); a picker that has answered by then is not wrong. */
async function lateHint(...[context, findings, endpoints]: [...Parameters<Check['run']>, readonly string[]]) {
  const tries = hinted(endpoints);
  const title = 'the hint on the last body message only';
  const plans = tries.map((it) =>
    context.requests.plan(title, {
      metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: [it] } },
      metadataOn: 'last body',
      pauseMs: context.load.silenceMs,
      body: { pieces: [context.requests.chat(), Buffer.from(' ')], end: 'empty_flag' },
    }),
  );
  const outcomes = await context.playAll(plans);
  const late = outcomes.filter((outcome) => answersAfterBody(outcome));
  if (late.length === 0) return;
  const wrong = outcomes.find((outcome, index) => answersAfterBody(outcome) && !isOnly(outcome, tries[index] ?? ''));
  findings.expect(wrong === undefined, title, 'a pick of the endpoint in the hint', wrong?.summary ?? 'as expected');
}

function answersAfterBody({ entries }: Outcome): boolean {
  const end = entries.findIndex((entry) => entry.from === 'us' && entry.kind === 'requestBody' && entry.endOfStream);
  const answer = entries.findIndex((entry) => entry.from === 'picker');
  return end >= 0 && answer > end;
}

function obeys(outcome: Outcome, { allowed }: Spelling, it: string): boolean {
  const { picks } = outcome;
  switch (allowed) {
    case 'it':
      return isOnly(outcome, it);
    case 'its address':
      return picks.length > 0 && picks.every((pick) => addressOf(pick) === addressOf(it));
    case 'nobody':
      return picks.length === 0 && isRefusal(outcome);
  }
}

function isOnly({ picks }: Outcome, endpoint: string): boolean {
  return picks.length > 0 && picks.every((pick) => pick === endpoint);
}

function isRefusal({ refusal, end }: Outcome): boolean {
  return refusal !== null || (end !== null && end.code !== 0);
}

function bracketed(endpoint: string): string {
  const address = addressOf(endpoint);
  return address.includes(':') ? `[${address}]` : address;
}
