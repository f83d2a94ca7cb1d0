import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INTEROP_PAGE, withTable } from '../interop/table.ts';

describe(INTEROP_PAGE, () => {
  it('has the table whose every cell the interop suite tries (node scripts/interop.mjs)', () => {
    const page = readFileSync(new URL(`../../${INTEROP_PAGE}`, import.meta.url), 'utf8');

    expect(page).toBe(withTable(page));
  });
});
