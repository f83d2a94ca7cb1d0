import { TRAPS } from './all-traps.ts';
import type { CheckSettings } from './check-settings.ts';
import type { NotJudged } from './not-judged.ts';
import { readTrees } from './read-trees.ts';
import { sourcesOf } from './sources/sources.ts';
import { subjectOf } from './subject/subject.ts';
import type { Finding, Flaw, Trap } from './trap.ts';
import { showPlace } from './tree.ts';

/** A file with a configuration of Envoy. */
export interface EnvoyFile {
  readonly name: string;
  readonly text: string;
}

export interface EnvoyReport {
  /** In the order of the files and of the lines. */
  readonly findings: readonly Finding[];
  /** What the files leave open. */
  readonly notJudged: readonly NotJudged[];
  /** What cannot be used at all, each with its place. */
  readonly problems: readonly string[];
}

/** Judges the configuration that the files hold together by all traps (envoy 19). Never throws. */
export function checkEnvoy(files: readonly EnvoyFile[], given: CheckSettings): EnvoyReport {
  const problems: string[] = [];
  const trees = files.flatMap(({ name, text }) => {
    const read = readTrees(text, name);
    problems.push(...read.problems);
    if (read.trees.length === 0 && read.problems.length === 0) problems.push(`${name}:1:1: the file is empty`);
    return read.trees;
  });
  const sources = sourcesOf(trees, given, problems);
  if (problems.length > 0) return { findings: [], notJudged: [], problems };

  const settings = ofService(given, sources.destinationHeader);
  const subject = subjectOf(sources, settings);
  const findings = TRAPS.flatMap((trap) => [...trap.find(subject, settings)].map((flaw) => finding(trap, flaw)));
  const notJudged = [...subject.notJudged];
  // One that stands among the upstream filters was found by T57.
  if (subject.askers.length === 0 && !findings.some(({ trap }) => trap === 'T57')) {
    const { place } = trees[0] ?? NOWHERE;
    if (!sources.open) problems.push(`${showPlace(place)}: ${NOBODY_ASKS}`);
    else if (notJudged.length === 0) notJudged.push({ place, reason: NOBODY_ASKS });
  }
  const order = new Map(files.map(({ name }, index) => [name, index]));
  return { findings: sorted(findings, order), notJudged, problems };
}

const NOBODY_ASKS = 'no ext_proc or ext_authz filter here asks the service';
const NOWHERE = { place: { file: '', line: 1, column: 1 } };

/** Resources that bring the service along bring its settings, too. */
function ofService(settings: CheckSettings, destinationHeader: string | null): CheckSettings {
  if (destinationHeader === null || settings.destinationHeader !== 'auto') return settings;
  return { ...settings, destinationHeader };
}

function finding(trap: Trap, flaw: Flaw): Finding {
  return {
    trap: trap.id,
    level: flaw.level ?? trap.level,
    place: flaw.at.place,
    message: flaw.found === undefined ? trap.title : `${trap.title}: ${flaw.found}`,
    consequence: trap.consequence,
    cure: flaw.cure ?? trap.cure,
    into: flaw.into ?? trap.into,
  };
}

function sorted(findings: readonly Finding[], order: ReadonlyMap<string, number>): readonly Finding[] {
  const rank = ({ place }: Finding): number => order.get(place.file) ?? 0;
  return findings.toSorted(
    (a, b) => rank(a) - rank(b) || a.place.line - b.place.line || a.place.column - b.place.column,
  );
}
