import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsFor } from '../../../test/support/envoy-check.ts';
import { checkEnvoy } from './check-envoy.ts';

const folder = new URL('../../../test/fixtures/envoy/', import.meta.url);

/** `line traps` for each line that a comment marks: `# T3 T29` at its end. */
function marked(text: string): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const [, traps] = /# (T\d+(?: T\d+)*)$/.exec(line) ?? [];
    return traps === undefined ? [] : [`${index + 1} ${traps.split(' ').sort().join(' ')}`];
  });
}

function found(text: string, flags: readonly string[]): readonly string[] {
  const { findings, problems } = checkEnvoy([{ name: 'envoy.yaml', text }], settingsFor(flags));
  expect(problems).toEqual([]);
  const byLine = new Map<number, Set<string>>();
  for (const { place, trap } of findings) byLine.set(place.line, (byLine.get(place.line) ?? new Set()).add(trap));
  return [...byLine].map(([line, traps]) => `${line} ${[...traps].sort().join(' ')}`);
}

describe('whole files that people write: each flaw at its line, and nothing else', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.yaml')))('%s', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const [, flags = ''] = /^# flags: (.*)$/m.exec(text) ?? [];

    expect(found(text, flags === '' ? [] : flags.split(' '))).toEqual(marked(text));
  });
});

describe('a file that cannot have comments', () => {
  it('header-source.json: open to whoever names a worker', () => {
    const text = readFileSync(new URL('header-source.json', folder), 'utf8');
    const flags = ['--policy', 'round_robin', '--destination-header', 'x-gateway-destination-endpoint'];

    const traps = found(text, flags).flatMap((line) => line.split(' ').slice(1));
    expect(traps.join(' ')).toBe('T48 T49 T51 T75 T76 T42 T43 T44 T73 T39 T40 T41 T77 T23 T52 T33');
  });
});
