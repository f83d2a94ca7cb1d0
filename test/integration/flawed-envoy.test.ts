import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noEnvoy, validateWithEnvoy } from '../support/services.ts';

const folder = new URL('../fixtures/envoy/', import.meta.url);
const files = readdirSync(folder)
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
  .filter(({ text }) => /static_?resources/i.test(text));

describe.skipIf(noEnvoy())('Envoy takes without complaint what check finds flaws in', () => {
  it.for(files)('$name', async ({ text }) => {
    expect(await validateWithEnvoy(text)).toBeUndefined();
  });
});
