import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findGoTool } from '../support/go-tools.ts';
import { missing } from '../support/require.ts';
import { readReport, runH2spec } from './run-h2spec.ts';
import { startTargets, type Targets } from './targets.ts';
import { WAYS, wayName } from './way.ts';
import { startWorker, type Worker } from './workers.ts';

/** Cases of h2spec 2.2.1 with those of SHOULD, by the part that they are in. */
const CASES = { generic: 44, http2: 95, hpack: 7 };

const h2spec = await findGoTool('h2spec');

describe.skipIf(missing('go', h2spec.reason))('RFC 9113 and RFC 7541 by all cases of h2spec', () => {
  let worker: Worker;
  let targets: Targets;

  beforeAll(async () => {
    worker = await startWorker();
    targets = await startTargets([worker.url]);
  });
  afterAll(async () => {
    await targets?.close();
    worker?.close();
  });

  // h2spec takes a host and a port alone.
  it.each(WAYS.filter(({ socket }) => socket === 'TCP').map((way) => [wayName(way), way] as const))(
    '%s',
    async (_, way) => {
      const { cases, notPassed } = await runH2spec(h2spec.path, targets.at(way));

      expect(notPassed).toEqual([]);
      expect(cases).toEqual(CASES);
    },
  );
});

describe('the report of h2spec', () => {
  it('tells of cases that passed, failed and were skipped', () => {
    const testcase = (section: string, inside: string) =>
      `<testcase package="${section}" classname="Sends &quot;it&quot;" time="2.0000">${inside}</testcase>\n`;
    const bad = ['\n<error>GOAWAY\nTimeout</error>\n', '\n<failure>Timeout</failure>\n', '\n<skipped></skipped>\n'];

    const report = readReport(['', ...bad].map((inside, index) => testcase(`http2/${index}`, inside)).join(''));

    expect(report.cases).toEqual({ http2: 4 });
    expect(report.notPassed.map((line) => line.split(' ')[0])).toEqual(['http2/1', 'http2/2', 'http2/3']);
  });
});
