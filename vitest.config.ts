import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Files whose claims are about time: they run last, one after the other, with the machine to themselves. */
const TIMED = [
  'test/e2e/{conformance,discovery,high-availability*,membership,overload,service-loss}.test.ts',
  'test/integration/reset-guard.test.ts',
  'test/unit/conformance.test.ts',
];

/** Of files that run at the same time. Those before real services mostly wait, so that two fit on one core. */
const maxWorkers = Math.max(2, availableParallelism());

/** What a fake clock or a changed variable would find of other files in the same process, or leave to them. */
const OWN_PROCESS = /useFakeTimers|spyOn|stubEnv|process\.(on|env)\b/;

/**
 * Unit tests, where the process starts once for all: to load the sources anew for each of hundreds of small files takes
 * longer than their tests. Those that touch what belongs to the process get one of their own.
 */
const [shared, own] = unitFiles();

function unitFiles(): [string[], string[]] {
  const parts: [string[], string[]] = [[], []];
  for (const folder of ['src', 'test/unit']) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${file}`;
      if (path.endsWith('.test.ts') && !TIMED.includes(path))
        parts[OWN_PROCESS.test(readFileSync(path, 'utf8')) ? 1 : 0].push(path);
    }
  }
  return parts;
}

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: shared, testTimeout: 20_000, maxWorkers, isolate: false } },
      { test: { name: 'unit-own-process', include: own, testTimeout: 20_000, maxWorkers } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: TIMED,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/{browser,e2e,interop}/**/*.test.ts'],
          exclude: TIMED,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: 'timed',
          include: TIMED,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'parity',
          include: ['test/parity/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
