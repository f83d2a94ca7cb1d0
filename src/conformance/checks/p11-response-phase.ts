import type { Check, Findings } from '../check.ts';
import type { Context } from '../context.ts';
import { hold, spread } from '../held-load.ts';
import { FULL_DUPLEX, type Mode, modeOf, type Plan, type ResponsePlan } from '../plan.ts';
import { served } from '../requests.ts';
import { StickyKey } from '../sticky.ts';

/** Turns of one conversation: more than a cap on running requests of a key lets through if ends get lost. */
const TURNS = 8;

const WAYS: readonly (readonly [string, Mode, Plan['close'], (by: string | null) => ResponsePlan | null])[] = [
  ['response phase delivered', FULL_DUPLEX, 'graceful', (by) => served(by)],
  ['response phase delivered, reset at the end', FULL_DUPLEX, 'reset', (by) => served(by)],
  ['stream closed before the response', FULL_DUPLEX, 'graceful', () => null],
  ['stream reset before the response', FULL_DUPLEX, 'reset', () => null],
  ['response phase not shown', { ...FULL_DUPLEX, response: 'none' }, 'graceful', () => null],
  ['NONE, response phase not shown', modeOf('none'), 'graceful', () => null],
  ['NONE, reset after the answer', modeOf('none'), 'reset', () => null],
];

/** P11: a request leaves the same traces whether its response phase is shown or not. */
export const responsePhase: Check = {
  id: 'P11',
  title: 'Response phase delivered or skipped: the same counts and pins afterwards',
  source: 'Envoy ext_proc: response_header_mode',
  async run(context, findings) {
    const { endpoints } = await context.fleet();
    if (endpoints.length < 2) {
      findings.unjudged('requests without a response phase', `needs two endpoints, knows ${endpoints.length}`);
      return;
    }
    const { stickyHeader } = context.knowledge;
    // First, since counts that leak would hide among those that the turns of a key leave behind.
    const byLoad = await counts(context, findings);
    const byKey = stickyHeader !== null && (await context.sticks()) && (await pins(context, findings, stickyHeader));
    if (byKey || byLoad) return;
    const why = stickyHeader === null ? 'no --sticky-header to see pins by' : `${stickyHeader} does not stick (P6)`;
    findings.unjudged('requests without a response phase', `${why}, and picks do not mind running requests`);
  },
};

/** A key stays where it is. */
async function pins(context: Context, findings: Findings, header: string): Promise<boolean> {
  const trial = new StickyKey(context, header);
  const [home = ''] = await trial.picks(served(null));
  if ((await trial.picks(served(home)))[0] !== home) return false;
  for (const [way, mode, close, response] of WAYS) {
    const key = new StickyKey(context, header);
    const [first = 'nobody'] = await key.picks(response(null), mode, close);
    const went = [first];
    while (went.length < TURNS) {
      const [pick = 'nobody'] = await key.picks(response(first), mode, close);
      went.push(pick);
    }
    const ends = [...new Set(went)];
    findings.expect(ends.length === 1, `${TURNS} requests of a key, ${way}`, 'one endpoint', ends.join(', '));
  }
  return true;
}

/** Requests that are over keep nobody away from their endpoint. */
async function counts(context: Context, findings: Findings): Promise<boolean> {
  const minded = await context.loadMinded();
  if (minded === null) return false;
  const { busiest, share } = minded;
  for (const [way, servedBy] of [
    ['with a response phase', busiest],
    ['without a response phase', null],
  ] as const) {
    const release = await hold(context, busiest, servedBy);
    await release();
    const after = (await spread(context)).get(busiest) ?? 0;
    findings.expect(
      after > share / 4,
      `${context.load.held} requests on ${busiest} ${way}, all ended`,
      `about its usual share of new requests, ${Math.round(share * 100)} %`,
      `${Math.round(after * 100)} %`,
    );
  }
  return true;
}
