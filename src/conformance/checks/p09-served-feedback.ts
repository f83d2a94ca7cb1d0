import type { Check, Findings } from '../check.ts';
import type { Context } from '../context.ts';
import { hold, spread } from '../held-load.ts';
import type { ResponsePlan } from '../plan.ts';
import { served } from '../requests.ts';
import { StickyKey } from '../sticky.ts';

/** Ways of naming the endpoint that answered, in the order in which a picker has to believe them. */
const WAYS: readonly (readonly [string, (by: string, other: string) => ResponsePlan])[] = [
  ['metadata', (by) => served(by)],
  ['attribute upstream.address', (by) => ({ ...served(null), attributes: { 'upstream.address': by } })],
  ['metadata, against the attribute', (by, other) => ({ ...served(by), attributes: { 'upstream.address': other } })],
];

/** P9: what the data plane reports as served is what the picker goes on with. Needs something that shows it: a key, or load. */
export const servedFeedback: Check = {
  id: 'P9',
  title: 'Served feedback moves pins and counts to the endpoint that answered',
  source: 'Endpoint Picker Protocol: served endpoint',
  async run(context, findings) {
    const { endpoints } = await context.fleet();
    if (endpoints.length < 2) {
      findings.unjudged('a request that another endpoint served', `needs two endpoints, knows ${endpoints.length}`);
      return;
    }
    const { stickyHeader } = context.knowledge;
    const byKey =
      stickyHeader !== null && (await context.sticks()) && (await pins(context, findings, stickyHeader, endpoints));
    const byLoad = await counts(context, findings);
    if (byKey || byLoad) return;
    const why = stickyHeader === null ? 'no --sticky-header to see pins by' : `${stickyHeader} does not stick (P6)`;
    findings.unjudged('a request that another endpoint served', `${why}, and picks do not mind running requests`);
  },
};

/** A key follows the endpoint that served it. */
async function pins(context: Context, findings: Findings, header: string, endpoints: readonly string[]) {
  let judged = false;
  for (const [way, response] of WAYS) {
    const key = new StickyKey(context, header);
    const [first = '', fallback] = await key.picks(served(null));
    if ((await key.picks(served(first)))[0] !== first) continue;
    const by = fallback ?? endpoints.find((endpoint) => endpoint !== first) ?? '';
    await key.picks(response(by, first));
    const next = [(await key.picks(served(by)))[0], (await key.picks(null))[0]];
    judged = true;
    findings.expect(
      next.every((pick) => pick === by),
      `a key on ${first} whose request was served by ${by} (${way})`,
      `its next requests go to ${by}`,
      `they go to ${next.map((pick) => pick ?? 'nobody').join(' and ')}`,
    );
  }
  return judged;
}

/** Running requests count on the endpoint that serves them. */
async function counts(context: Context, findings: Findings): Promise<boolean> {
  const minded = await context.loadMinded();
  if (minded === null) return false;
  const { busiest: picked, other: by } = minded;
  const release = await hold(context, picked, by);
  const shares = await spread(context);
  await release();
  const [onPicked, onServed] = [shares.get(picked) ?? 0, shares.get(by) ?? 0];
  findings.expect(
    onServed < onPicked,
    `requests picked on ${picked} that run on ${by}`,
    `fewer new requests on ${by} than on ${picked}`,
    `${percent(onServed)} on ${by}, ${percent(onPicked)} on ${picked}`,
  );
  return true;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
