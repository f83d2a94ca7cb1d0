import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BODY_MODES_PAGE, withTable } from '../support/body-modes.ts';

describe(BODY_MODES_PAGE, () => {
  it('has the table that the e2e test holds to a real Envoy (node scripts/body-modes.mjs)', () => {
    const page = readFileSync(new URL(`../../${BODY_MODES_PAGE}`, import.meta.url), 'utf8');

    expect(page).toBe(withTable(page));
  });
});
