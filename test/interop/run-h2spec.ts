import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HEALTH_PATH } from './health-call.ts';
import type { Target } from './way.ts';

/** Of one case, by default 2: on a busy machine an answer can be late. */
const CASE_TIMEOUT_S = 10;

export interface H2specReport {
  /** How many cases ran, by the part that they are in. */
  readonly cases: Readonly<Record<string, number>>;
  /** Those that failed or were skipped, with what h2spec says of them. */
  readonly notPassed: readonly string[];
}

/** Runs all cases of h2spec, also those that RFC 9113 asks by SHOULD, against a port. */
export async function runH2spec(h2spec: string, { way, address }: Target): Promise<H2specReport> {
  const [host = '', port = ''] = address.split(':');
  const folder = await mkdtemp(join(tmpdir(), 'smg-h2spec-'));
  try {
    const file = join(folder, 'report.xml');
    const where = ['--host', host, '--port', port, '--path', HEALTH_PATH, ...(way.tls ? ['--tls', '--insecure'] : [])];
    const how = ['--strict', '--timeout', String(CASE_TIMEOUT_S), '--junit-report', file];
    // Its exit code tells of failed cases, as its report does.
    await promisify(execFile)(h2spec, ['generic', 'http2', 'hpack', ...where, ...how]).catch(() => undefined);
    return readReport(await readFile(file, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads JUnit as h2spec writes it: a case that passed has nothing inside. */
export function readReport(xml: string): H2specReport {
  const cases: Record<string, number> = {};
  const notPassed: string[] = [];
  for (const [, section = '', title = '', inside = ''] of xml.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs,
  )) {
    const [part = ''] = section.split('/');
    cases[part] = (cases[part] ?? 0) + 1;
    if (inside.trim() !== '') notPassed.push(`${section} ${title}: ${inside.trim()}`);
  }
  return { cases, notPassed };
}
