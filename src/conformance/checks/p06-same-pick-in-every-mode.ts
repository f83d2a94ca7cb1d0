import type { Check } from '../check.ts';
import type { Context } from '../context.ts';
import { SUBSET, SUBSET_NAMESPACE } from '../names.ts';
import { type BodyMode, FULL_DUPLEX, type Mode, modeOf, type Plan } from '../plan.ts';
import { served } from '../requests.ts';

const MODES: readonly (readonly [string, Mode])[] = [
  ['NONE', modeOf('none')],
  ['BUFFERED', modeOf('buffered')],
  ['BUFFERED_PARTIAL', modeOf('buffered_partial')],
  ['STREAMED', modeOf('streamed')],
];

/** Modes in which a picker answers the headers without the body. */
const UNREAD: ReadonlySet<BodyMode> = new Set(['none', 'streamed']);

/** What is the same in all modes, and makes the picks comparable. */
interface Anchor {
  readonly name: string;
  readonly changes: Parameters<Context['requests']['plan']>[1];
}

const TRIES = 4;

/** P6: the mode of the data plane does not change the pick. Compared with full duplex, by a key or a subset of one. */
export const samePickInEveryMode: Check = {
  id: 'P6',
  title: 'NONE, BUFFERED, BUFFERED_PARTIAL and STREAMED give the pick of full duplex',
  source: 'the data plane chooses the mode',
  async run(context, findings) {
    const { endpoints } = await context.fleet();
    if (endpoints.length < 2) {
      findings.unjudged('one request in all modes', `needs two endpoints, knows ${endpoints.length}`);
      return;
    }
    const { stickyHeader } = context.knowledge;
    const sticks = await context.sticks();
    if (stickyHeader !== null && !sticks) {
      findings.unjudged('one key in all modes', `${stickyHeader} does not stick, so that no check goes by its keys`);
    }
    const anchors = anchorsOf(context, endpoints, sticks ? stickyHeader : null);
    let comparable = 0;
    for (const anchor of anchors) {
      const pick = (name: string, mode: Mode): Plan =>
        context.requests.plan(`${name} with ${anchor.name}`, { ...anchor.changes, mode, response: served(null) });
      const first = await context.play(pick('full duplex', FULL_DUPLEX));
      const again = await context.play(pick('full duplex', FULL_DUPLEX));
      if (first.first === null || again.first !== first.first) continue;
      comparable += 1;
      // One after another, each seen to its end: a picker may spread a key that has many requests at once.
      for (const [name, mode] of MODES) {
        const outcome = await context.play(pick(name, mode));
        if (outcome.first !== first.first && !context.requests.namesModel && UNREAD.has(mode.request)) {
          findings.unjudged(outcome.title, 'keys may be kept by model, and bodies name none: name one with --model');
          continue;
        }
        findings.expect(outcome.first === first.first, outcome.title, `pick ${first.first}`, outcome.summary);
      }
    }
    if (comparable < anchors.length) {
      const cure = stickyHeader === null ? '; name a sticky key with --sticky-header' : '';
      findings.unjudged('one request in all modes', `two equal requests get different picks in full duplex${cure}`);
    }
  },
};

function anchorsOf(
  { requests }: Context,
  endpoints: readonly string[],
  stickyHeader: string | null,
): readonly Anchor[] {
  return Array.from({ length: TRIES }, (_, index) => {
    if (stickyHeader !== null) {
      const key = requests.unique();
      return { name: `${stickyHeader}: ${key}`, changes: { more: [[stickyHeader, key]] as const } };
    }
    const only = endpoints[index % endpoints.length] ?? '';
    return { name: `a subset of ${only}`, changes: { metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: [only] } } } };
  });
}
