import type { Check, Findings } from '../check.ts';
import { play } from '../connection.ts';
import { NOBODY, SUBSET, SUBSET_NAMESPACE } from '../names.ts';
import { destinationIn, headerText, type Outcome, saysSomething } from '../outcome.ts';
import { FULL_DUPLEX, modeOf, type Plan } from '../plan.ts';

/** P4: 503 where nobody may be picked, 429 where load is the reason, both as immediate response on a good stream. */
export const refusals: Check = {
  id: 'P4',
  title: '503 for no endpoint, 429 for load, as immediate responses on a stream that ends with OK',
  source: 'Endpoint Picker Protocol: errors',
  async run({ requests, playAll, places, knowledge }, findings) {
    const hinted = (title: string, value: unknown, changes: Partial<Plan> = {}): Plan =>
      requests.plan(title, { metadata: { [SUBSET_NAMESPACE]: { [SUBSET]: value } }, ...changes });
    const empty = await playAll([
      hinted('full duplex, POST with an empty subset', []),
      hinted('full duplex, POST with a subset of unknown endpoints', [NOBODY]),
      hinted('full duplex, GET with an empty subset', [], { body: null }),
      hinted('BUFFERED, POST with an empty subset', [], { mode: modeOf('buffered') }),
      hinted('NONE, POST with an empty subset', [], { mode: modeOf('none') }),
    ]);
    for (const outcome of empty) {
      if (await places(outcome.plan.mode.request)) judge(findings, outcome, 503);
      else findings.unjudged(outcome.title, 'no request is placed in this mode (P6)');
    }

    if (knowledge.overloaded === null) {
      findings.unjudged('a request that load forbids', 'give --overloaded-target, a picker that sheds every request');
      return;
    }
    const overloaded = knowledge.overloaded();
    try {
      const shed = [
        requests.plan('full duplex, POST to the overloaded picker'),
        requests.plan('NONE, POST to the overloaded picker', { mode: modeOf('none') }),
        requests.plan('full duplex, POST with trailers to the overloaded picker', {
          mode: FULL_DUPLEX,
          body: { pieces: [requests.chat()], end: 'trailers' },
        }),
      ];
      for (const plan of shed) judge(findings, await play(overloaded, plan), 429);
      const none = await play(overloaded, hinted('an empty subset at the overloaded picker', []));
      judge(findings, none, 503);
    } finally {
      overloaded.close();
    }
  },
};

function judge(findings: Findings, outcome: Outcome, status: number): void {
  const { refusal, end, answers } = outcome;
  if (outcome.first !== null) {
    findings.unjudged(outcome.title, `it was placed: ${outcome.summary}`);
    return;
  }
  const last = answers.at(-1)?.kind === 'immediateResponse';
  findings.expect(
    refusal?.status === status && last && end?.code === 0,
    outcome.title,
    `immediate response ${status}, nothing after it, gRPC status 0`,
    end !== null && end.code !== 0 ? `${outcome.summary}, gRPC status ${end.code}` : outcome.summary,
  );
  if (refusal === null) return;
  const { response } = refusal.message;
  const immediate = response?.$case === 'immediateResponse' ? response.value : {};
  const length = immediate.body?.length ?? 0;
  const said = immediate.headers?.setHeaders?.find(({ header }) => header?.key?.toLowerCase() === 'content-length');
  const told = said?.header === undefined ? String(length) : headerText(said.header);
  const body = `a body of ${length} bytes`;
  findings.expect(told === String(length), outcome.title, `content-length of ${body}`, `content-length: ${told}`);
  const named = saysSomething(destinationIn(answers));
  findings.expect(!named, outcome.title, 'a refusal names no destination', 'a destination beside the refusal');
}
