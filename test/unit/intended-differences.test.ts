import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INTENDED_DIFFERENCES } from '../parity/intended-differences.ts';

const page = readFileSync(new URL('../../docs/differences-from-smg.md', import.meta.url), 'utf8');
const firstCells = page.split('\n').map((line) => line.replace(/^\| /u, ''));

describe('differences that the parity suite expects', () => {
  it.each(INTENDED_DIFFERENCES.map((entry) => entry.line))('stand on the page: %s', (line) => {
    expect(firstCells.filter((cell) => cell.startsWith(line))).toHaveLength(1);
  });
});
