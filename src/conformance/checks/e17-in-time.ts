import type { Check } from '../check.ts';
import { modeOf } from '../plan.ts';
import { served } from '../requests.ts';

/** Envoy's default `message_timeout` (envoy 10.5). */
const LONGEST_MS = 200;
const ROUNDS = 3;

/** E17: an answer that comes later is 504 at the client. In full duplex Envoy does not watch the clock. */
export const inTime: Check = {
  id: 'E17',
  title: "Answers come within 200 ms, Envoy's default for one message",
  source: 'Envoy ext_proc: message_timeout',
  async run({ requests, playAll }, findings) {
    const response = served(null);
    const plans = () => [
      requests.plan('NONE, GET', { mode: modeOf('none'), body: null, response }),
      ...(['none', 'buffered', 'buffered_partial', 'streamed'] as const).map((mode) =>
        requests.plan(`${mode.toUpperCase()}, POST`, { mode: modeOf(mode), response }),
      ),
    ];
    let outcomes = await playAll(plans());
    let best = outcomes.map(({ slowest }) => slowest);
    // The best of a few: one that is late can be the fault of the machine.
    for (let round = 1; round < ROUNDS && best.some((ms) => ms > LONGEST_MS); round += 1) {
      outcomes = await playAll(plans());
      best = best.map((ms, index) => Math.min(ms, outcomes[index]?.slowest ?? ms));
    }
    for (const [index, outcome] of outcomes.entries()) {
      const ms = Math.round(best[index] ?? 0);
      if (outcome.silent) findings.unjudged(outcome.title, 'an answer is missing (P6)');
      else findings.expect(ms <= LONGEST_MS, outcome.title, `each answer within ${LONGEST_MS} ms`, `${ms} ms at best`);
    }
  },
};
