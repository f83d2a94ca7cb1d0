import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noEnvoy } from '../support/envoy.ts';
import { missing } from '../support/require.ts';
import { findSmg } from '../support/smg-process.ts';
import { describeDifference } from './difference.ts';
import { explain, INTENDED_DIFFERENCES, type IntendedDifference } from './intended-differences.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario, StandOptions } from './scenario.ts';
import { ALL_SCENARIOS } from './scenarios/all.ts';
import { Stand } from './stand.ts';

const absent = noEnvoy() || missing('smg', await findSmg());

const seen = new Map<IntendedDifference, number>();
let compared = 0;
let ran = 0;

/** Scenarios that can share a stand. Those that wait for reports of loads come first: the others fill their waits. */
function byStand(scenarios: readonly Scenario[]): ReadonlyMap<string, readonly Scenario[]> {
  const groups = new Map<string, Scenario[]>();
  const waiting = scenarios.filter(({ stand }) => stand.engines?.loads === true);
  for (const scenario of [...waiting, ...scenarios.filter((each) => !waiting.includes(each))]) {
    const title = standTitle(scenario.stand);
    const group = groups.get(title) ?? [];
    group.push(scenario);
    groups.set(title, group);
  }
  return groups;
}

function standTitle({ flags, engines = {}, smg = '1.11.0', ours = [] }: StandOptions): string {
  const shape = Object.keys(engines).length === 0 ? '' : ` ${JSON.stringify(engines)}`;
  return `SMG ${smg} ${[...flags, ...ours].join(' ')}${shape}`;
}

describe.skipIf(absent)('parity with SMG', () => {
  describe('stands', { concurrent: true }, () => {
    for (const [title, scenarios] of byStand(ALL_SCENARIOS)) {
      describe(title, { concurrent: true }, () => {
        let stand: Stand | undefined;
        beforeAll(async () => {
          const options = scenarios[0]?.stand;
          if (options !== undefined) stand = await Stand.start(options);
        }, 600_000);
        afterAll(async () => {
          await stand?.close();
        });
        for (const scenario of scenarios) {
          it.sequential(scenario.title, { timeout: 60_000 }, async () => {
            if (stand === undefined) throw new Error('no stand');
            const run = await runScenario(stand, scenario);
            ran++;
            compared += run.compared;
            const unexplained: string[] = [];
            for (const difference of run.differences) {
              const entry = explain(difference);
              if (entry === undefined) unexplained.push(describeDifference(difference));
              else seen.set(entry, (seen.get(entry) ?? 0) + 1);
            }
            expect(unexplained).toEqual([]);
          });
        }
      });
    }
  });

  it('each intended difference was seen', ({ skip }) => {
    if (ran < ALL_SCENARIOS.length) skip('not all scenarios ran');
    expect(INTENDED_DIFFERENCES.filter((entry) => !seen.has(entry)).map((entry) => entry.line)).toEqual([]);
  });

  afterAll(() => {
    const differences = [...seen.values()].reduce((sum, times) => sum + times, 0);
    process.stderr.write(
      `parity: ${ran} scenarios, ${compared} points compared, ${differences} intended differences of ${seen.size} kinds\n`,
    );
  });
});
