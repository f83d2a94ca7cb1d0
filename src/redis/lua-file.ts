import { readFileSync } from 'node:fs';

/** Files of `lua/`, one after the other, as the text of one script. */
export function readLua(...files: readonly string[]): string {
  return files.map((file) => readFileSync(new URL(`./lua/${file}`, import.meta.url), 'utf8')).join('\n');
}
