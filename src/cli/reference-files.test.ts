import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KNOWN_FLAGS } from '../config/known-flags.ts';
import { flagName } from '../config/setting.ts';
import { TABLE } from '../config/settings-table.ts';
import { HTTP_CODES, PROCESS_CODES } from '../util/error-codes.ts';
import { referenceFiles } from './reference-files.ts';

const root = new URL('../../', import.meta.url);

describe('documents made from the code', () => {
  it.each([...referenceFiles()])('%s is fresh (else run node scripts/reference.mjs)', (path, text) => {
    const file = new URL(path, root);

    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });

  it('docs/errors.md lists each code once, and no other', () => {
    const text = readFileSync(new URL('docs/errors.md', root), 'utf8');
    const listed = [...text.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);

    expect(listed.sort()).toEqual([...Object.keys(HTTP_CODES), ...Object.keys(PROCESS_CODES)].sort());
  });

  it('docs/reference/flags.md lists each flag once, and no other', () => {
    const text = readFileSync(new URL('docs/reference/flags.md', root), 'utf8');
    const listed = [...text.matchAll(/^\| `(--[\w-]+)`/gm)].map((match) => match[1]);

    expect(listed.sort()).toEqual([...TABLE.map(([key]) => flagName(key)), ...KNOWN_FLAGS.keys()].sort());
  });
});
