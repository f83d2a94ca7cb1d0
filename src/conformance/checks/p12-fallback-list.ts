import type { Check, Findings } from '../check.ts';
import type { Context } from '../context.ts';
import { SUBSET, SUBSET_NAMESPACE } from '../names.ts';
import { served } from '../requests.ts';
import { StickyKey } from '../sticky.ts';

const PICKS = 32;
const MOST_ENTRIES = 16;
const TURNS = 4;

/** P12: the destination list holds ready endpoints, each once, the preferred one first, and not the whole fleet. */
export const fallbackList: Check = {
  id: 'P12',
  title: 'Destination list: preferred first, no duplicates, ready endpoints only, capped',
  source: 'Endpoint Picker Protocol: destination, fallback list',
  async run(context, findings) {
    const { requests } = context;
    const fleet = await context.fleet();
    const plans = Array.from({ length: PICKS }, () => requests.plan('an ordinary request'));
    const hinted = fleet.endpoints.length > 1 ? fleet.endpoints.slice(0, -1) : fleet.endpoints;
    plans.push(requests.plan('a request with a subset', { metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: hinted } } }));
    plans.push(requests.plan('a request without a body', { body: null }));
    const lists = (await context.playAll(plans)).map(({ picks }) => picks);

    const doubled = lists.find((list) => new Set(list).size < list.length);
    findings.expect(doubled === undefined, `${plans.length} requests`, 'no endpoint twice in a list', text(doubled));
    const long = lists.find((list) => list.length > MOST_ENTRIES);
    findings.expect(long === undefined, `${plans.length} requests`, `at most ${MOST_ENTRIES} entries`, text(long));
    if (fleet.given) {
      const foreign = lists.find((list) => list.some((endpoint) => !fleet.endpoints.includes(endpoint)));
      const of = fleet.endpoints.join(', ');
      findings.expect(foreign === undefined, `${plans.length} requests`, `endpoints of ${of} only`, text(foreign));
    } else findings.unjudged('only ready endpoints', 'tell which are ready with --endpoints');
    await order(context, findings, lists);
  },
};

/** Which endpoint is preferred shows where a key has one. */
async function order(context: Context, findings: Findings, lists: readonly (readonly string[])[]): Promise<void> {
  if (lists.every((list) => list.length < 2)) return;
  const { stickyHeader } = context.knowledge;
  if (stickyHeader === null) {
    findings.unjudged('the order of a list', 'name a sticky key with --sticky-header');
    return;
  }
  if (!(await context.sticks())) {
    findings.unjudged('the order of a list', `${stickyHeader} does not stick (P6)`);
    return;
  }
  const key = new StickyKey(context, stickyHeader);
  const [home = ''] = await key.picks(served(null));
  const turns: (readonly string[])[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) turns.push(await key.picks(served(home)));
  const wrong = turns.find((list) => list[0] !== home);
  findings.expect(wrong === undefined, `a key on ${home}`, `${home} first`, text(wrong));
}

function text(list: readonly string[] | undefined): string {
  return list === undefined ? 'as expected' : list.join(',');
}
