import type { Check, Finding } from './check.ts';
import type { CheckResult, Result } from './run-checks.ts';

/** Findings of one kind that are shown for one check; `--json` has all. */
const MOST_SHOWN = 8;

/** Writes results for people: a line for each check as it ends, then what was found. */
export class Report {
  readonly #idWidth: number;
  readonly #titleWidth: number;

  constructor(checks: readonly Check[]) {
    this.#idWidth = Math.max(2, ...checks.map(({ id }) => id.length));
    this.#titleWidth = Math.max(5, ...checks.map(({ title }) => title.length));
  }

  header(): string {
    return this.#line('ID', 'CHECK', 'RESULT', '   TIME');
  }

  row({ id, title, result, milliseconds }: CheckResult): string {
    return this.#line(id, title, result, `${(milliseconds / 1000).toFixed(1)} s`.padStart(7));
  }

  /** What failed and what could not be judged, then the sums. */
  details(results: readonly CheckResult[]): string {
    const sections = results.flatMap((result) => [...failure(result), ...gaps(result)]);
    return `${sections.map((section) => `\n${section}`).join('')}\n${summary(results)}\n`;
  }

  #line(id: string, title: string, result: string, time: string): string {
    return `${id.padEnd(this.#idWidth)}  ${title.padEnd(this.#titleWidth)}  ${result.padEnd(6)}  ${time}\n`;
  }
}

/** `27 passed, 1 failed, 0 skipped`. */
export function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Result): number => results.filter(({ result }) => result === wanted).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`;
}

function failure({ id, title, source, findings }: CheckResult): string[] {
  const broken = findings.filter(({ verdict }) => verdict === 'broken');
  if (broken.length === 0) return [];
  const rest = broken.length - MOST_SHOWN;
  const more = rest > 0 ? [`  and ${rest} more, see --json\n`] : [];
  return [`${id} fails: ${title}\n  (${source})\n`, ...broken.slice(0, MOST_SHOWN).map(shown), ...more];
}

function shown({ sent, expected, came }: Finding): string {
  return `  sent      ${printable(sent)}\n  expected  ${printable(expected)}\n  came      ${printable(came)}\n`;
}

function gaps({ id, title, findings }: CheckResult): string[] {
  const reasons = new Set(
    findings.flatMap(({ verdict, sent, came }) => (verdict === 'unjudged' ? [`${sent}: ${came}`] : [])),
  );
  if (reasons.size === 0) return [];
  const lines = [...reasons].slice(0, MOST_SHOWN).map((reason) => `  ${printable(reason)}\n`);
  return [`${id} was not judged in full: ${title}\n${lines.join('')}`];
}

/** What a foreign program sent must not move the cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}
