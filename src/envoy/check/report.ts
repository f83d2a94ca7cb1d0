import type { EnvoyReport } from './check-envoy.ts';
import type { Finding } from './trap.ts';
import { showPlace } from './tree.ts';

const LEVELS = ['error', 'warning', 'note'] as const;

/** The report for people, with a line feed at its end. */
export function reportText(report: EnvoyReport, files: readonly string[]): string {
  const blocks = [
    ...report.problems.map((problem) => `${problem}\n`),
    ...report.findings.map(findingText),
    ...report.notJudged.map(({ place, reason }) => `${showPlace(place)}: not judged: ${reason}\n`),
  ];
  return `${blocks.join('')}${files.join(', ')}: ${summary(report)}\n`;
}

function findingText({ place, level, trap, message, consequence, into, cure }: Finding): string {
  const lines = cure.split('\n').map((line) => `      ${line}`);
  return [`${showPlace(place)}: ${level} ${trap}: ${message}`, `    ${consequence}`, `    ${into}:`, ...lines, ''].join(
    '\n',
  );
}

function summary({ findings, problems }: EnvoyReport): string {
  if (problems.length > 0) return 'cannot be judged';
  if (findings.length === 0) return 'no findings';
  const counts = LEVELS.map((level) => [level, findings.filter((finding) => finding.level === level).length] as const);
  return counts
    .flatMap(([level, count]) => (count === 0 ? [] : [`${count} ${level}${count === 1 ? '' : 's'}`]))
    .join(', ');
}

/** The report for programs. */
export function reportJson({ findings, notJudged, problems }: EnvoyReport): object {
  return {
    problems,
    findings: findings.map(({ trap, level, place, message, consequence, into, cure }) => {
      return { trap, level, ...place, message, consequence, into, cure };
    }),
    not_judged: notJudged.map(({ place, reason }) => ({ ...place, reason })),
  };
}
