import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(root, 'bench', 'render.mjs');
const RESULTS = join(root, 'bench', 'results');

/** What every result begins with. */
const BEGUN = {
  date: '2030-01-02',
  machine: { cpu: 'a processor', cores: 2, memoryGiB: 8, platform: 'linux x64' },
  versions: { smgEnvoy: '0.1.0', commit: 'abc1234', node: '20.0.0', envoy: '1.40.0' },
  problems: [],
};

const TRANSPORT = {
  ...BEGUN,
  kind: 'transport',
  command: 'node bench/transport.mjs saturation --rounds 2',
  settings: { rounds: 2, seconds: 4, connections: 2, streams: 32, rate: 1000, 'fast-rate': 4000, open: 5000 },
  pinned: true,
  scenarios: {
    saturation: {
      summary: {
        header: {
          http2: {
            perSecond: 30_000,
            cpuMicros: 30,
            perSecondRatio: 9.5,
            perSecondSpread: [9, 10],
            cpuMicrosRatio: 0.1,
            cpuMicrosSpread: [0.1, 0.1],
          },
          'grpc-js': { perSecond: 3158, cpuMicros: 300 },
        },
      },
    },
  },
  verdicts: [{ what: 'streams', budget: 'at least 8 times grpc-js', ratio: 9.5, met: true }],
};

const HELD = {
  ...BEGUN,
  kind: 'held',
  command: 'node bench/held.mjs',
  settings: { open: 100, 'hold-ms': 2000, ramp: 500, events: 10, 'most-mib': 120 },
  rows: [
    {
      variant: 'header-1k',
      title: 'header key, 1 KB',
      open: 100,
      failed: 0,
      split: 0,
      inFlight: 100,
      openCalls: 2,
      overflowed: 0,
      serviceMiB: 130,
      envoyMiB: 75,
      serviceKiBEach: 4,
      envoyKiBEach: 70,
    },
  ],
};

const SAMPLE = { heapMiB: 25, externalMiB: 5, envoyMiB: 74, inFlight: 6, pins: 500, lagMeanMs: 0.1, failed: 0 };
const SOAK = {
  ...BEGUN,
  kind: 'soak',
  command: 'node bench/soak.mjs --minutes 8',
  settings: { minutes: 8, rate: 100, 'sample-seconds': 60, 'most-growth-percent': 3, 'most-lag-ms': 5 },
  mix: [{ name: 'header', share: 100, key: 'header', bodyBytes: 1024 }],
  samples: [90, 92, 94, 96, 97, 98, 99, 101].map((rssMiB, at) => ({
    ...SAMPLE,
    rssMiB,
    lagP99Ms: at,
    p50Ms: 2,
    p99Ms: 9,
  })),
  end: {
    sent: 48_000,
    failed: 0,
    split: 0,
    left: 0,
    inFlight: 0,
    openCalls: 0,
    rssMiB: 101,
    releases: { 'reason="end"': 48_000 },
    resets: 0,
    limits: {},
    handlerErrors: 0,
  },
  judged: { rssGrowthPercent: 5.26, heapGrowthPercent: 0, lagP99Ms: 7, failed: 0 },
};

const RESETS = {
  ...BEGUN,
  kind: 'resets',
  command: 'node bench/resets.mjs',
  settings: { minutes: 10, rate: 2000, 'step-seconds': 30 },
  rows: [
    {
      variant: 'header-1k',
      sent: 1000,
      placed: 1000,
      resets: 1001,
      goAways: 0,
      failed: 0,
      split: 0,
      limits: {},
      rssMiB: 90,
      p99Ms: 5,
      envoy: { 'http.edge.ext_proc.picker.failure_mode_allowed': 3 },
    },
  ],
};

const ENVOY_COST = {
  ...BEGUN,
  kind: 'envoy-cost',
  command: 'node bench/envoy-cost.mjs',
  settings: { 'counted-seconds': 4 },
  counted: [
    ['plain', 200_000],
    ['generated', 600_000],
    ['generated again (noise)', 602_000],
    ['no stamp', 590_000],
    ['no access log', 500_000],
    ['no local replies', 599_000],
    ['ladder: no access log', 500_000],
    ['ladder: no stamp', 490_000],
  ].map(([name, instructions]) => ({ name, instructions, failed: 0, split: 0 })),
};

const SPREAD_KIND = { answered: 900, differing: 0, p50Ms: 0.3, p99Ms: 2 };
const SPREAD = {
  ...{ sent: 1000, failed: 0, placed: 1000, rateHeld: true, perSecond: 20_000, serviceMicros: 40, redisMicros: 0 },
  ...{ known: SPREAD_KIND, new: SPREAD_KIND, second: { ...SPREAD_KIND, answered: 25 } },
  ...{ alone: 0, left: 0, visits: 0, messages: 0, rssMiB: 100, pssMiB: 60 },
};
const SPREAD_BY_TWO = {
  ...SPREAD,
  ...{ perSecond: 16_000, perSecondRatio: 0.8, serviceMicros: 50, serviceMicrosRatio: 1.25, redisMicros: 6 },
  ...{ alone: 1, visits: 0.95, messages: 120, rssMiB: 110, pssMiB: 130 },
};
const MULTI_CORE = {
  ...BEGUN,
  kind: 'multi-core',
  command: 'node bench/multi-core.mjs',
  settings: {
    rounds: 2,
    seconds: 4,
    connections: 4,
    places: 64,
    rate: 4000,
    keys: 100,
    'new-percent': 5,
    'hold-ms': 250,
  },
  pinned: true,
  quiet: [0.99, 0.98],
  idle: { memory: { serviceMs: 3, redisMs: 0 }, 'redis-2': { serviceMs: 11, redisMs: 2 } },
  scenarios: {
    saturation: { summary: { memory: SPREAD, 'redis-2': SPREAD_BY_TWO } },
    paced: { summary: { memory: SPREAD, 'redis-2': { ...SPREAD_BY_TWO, rateHeld: false } } },
  },
};

describe('style 4.16 figures of a page come from a script, with date, hardware and command', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'performance-page-'));
    for (const kind of ['end-to-end', 'micro']) {
      const names = readdirSync(RESULTS).filter((name) => name.endsWith(`-${kind}.json`));
      const newest = names.toSorted().at(-1) ?? '';
      copyFileSync(join(RESULTS, newest), join(folder, newest));
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function add(result: Readonly<Record<string, unknown>> & { kind: string }): void {
    writeFileSync(join(folder, `2030-01-02-${result.kind}.json`), JSON.stringify(result));
  }

  /** The page, or a section of it. */
  function render(heading?: string): string {
    execFileSync(process.execPath, [PROGRAM, '--results', folder, '--page', join(folder, 'page.md')]);
    const page = readFileSync(join(folder, 'page.md'), 'utf8');
    return heading === undefined ? page : (page.split(/^(?=## )/m).find((part) => part.includes(heading)) ?? '');
  }

  it('has no section for what was not measured', () => {
    expect(render()).not.toMatch(/^## (The transport|Answers that stay open|.* of mixed traffic)$/m);
  });

  it('names the file, the date, the versions and the machine of a result', () => {
    add(TRANSPORT);

    expect(render('## On what')).toMatch(
      /\[2030-01-02-transport\.json].*2030-01-02.*`node bench\/transport\.mjs saturation` with rounds 2.*abc1234.*a processor/,
    );
    expect(render('## The transport')).toContain('](../bench/results/2030-01-02-transport.json)');
  });

  it('takes the newest result of a kind', () => {
    add(TRANSPORT);
    writeFileSync(join(folder, '2029-01-02-transport.json'), JSON.stringify({ ...TRANSPORT, verdicts: [] }));

    expect(render('## Budgets')).toContain('at least 8 times grpc-js | 9.5 | yes');
  });

  it('sets transports beside each other, with the range of their ratio', () => {
    add(TRANSPORT);

    expect(render('## The transport')).toContain(
      '| key in a header | 30,000 | 3,158 | 9.5 (9 to 10) | 30 µs | 300 µs | 0.1 |',
    );
  });

  it('tells a budget that was missed', () => {
    add(HELD);

    expect(render('## Budgets')).toMatch(/100 answers open.* \| at most 120 MB \| 130 MB \| \*\*no\*\*/);
  });

  it('divides the samples of a soak into quarters', () => {
    add(SOAK);

    const section = render('of mixed traffic');

    expect(section).toMatch(/^\| 2, 2 samples \| 95 MB .*\| 2.5 ms \| 3 ms \|/m);
    expect(section).toMatch(/^\| 4, 2 samples \| 100 MB .*\| 6.5 ms \| 7 ms \|/m);
    expect(section).toContain('| released, reason=end | 48,000 |');
  });

  it('counts what Envoy let through, and shows what the benchmark found wrong', () => {
    add({ ...RESETS, problems: ['header-1k: 3 streams failed at Envoy'] });

    const section = render('## Streams that end by a reset');

    expect(section).toContain('| header-1k | 1,000 | 1,000 | 1,001 | 0 | 0 | 0 | 3 | 5 ms | 90 MB |');
    expect(section).toContain('- header-1k: 3 streams failed at Envoy');
  });

  it('sorts the parts of a configuration by their cost, and keeps the order of the ladder', () => {
    add(ENVOY_COST);

    const [, parts = '', ladder = ''] = render('## What each part').split('| thousand instructions |');

    expect([...parts.matchAll(/^\| (\w.*?) \|.* \| (yes|no|–) \|$/gm)].map(([, name, above]) => [name, above])).toEqual(
      [
        ['no access log', 'yes'],
        ['no stamp', 'yes'],
        ['no local replies', 'no'],
        ['generated again (noise)', '–'],
      ],
    );
    expect([...ladder.matchAll(/^\| (\w.*?) \| \d+ \| (\S+) \|/gm)].map(([, name, step]) => [name, step])).toEqual([
      ['as generated', '–'],
      ['no access log', '+100'],
      ['no stamp', '+10'],
      ['plain Envoy', '+290'],
    ]);
  });

  it('sets several processes beside one, and sums over what was tried', () => {
    add(MULTI_CORE);

    const section = render('## One process or several');

    expect(section).toContain('| two processes, pins in Redis | 2,000 | 0 | 1,800 | 0 | 50 | 0 | 2 |');
    expect(section).toContain(
      '| two processes, pins in Redis | 16,000 | 0.8 | 50 µs | 6 µs | 0.95 | 110 MB | 130 MB |',
    );
    expect(section).toContain('| two processes, pins in Redis | not held | 1.25 | 6 µs | 0.95 | 120 | 11 ms | 2 ms |');
    expect(section).not.toContain('four processes');
  });

  it('fails where a result lacks a figure that its section tells', () => {
    add({ ...HELD, settings: { 'most-mib': 120 } });

    const done = spawnSync(process.execPath, [PROGRAM, '--results', folder, '--page', join(folder, 'page.md')]);

    expect(done.status).toBe(1);
    expect(String(done.stderr)).toContain('a figure is missing');
  });
});
