import { existsSync, readFileSync } from 'node:fs';

/** Version of this package. The sources lie two folders below `package.json`, the build too. */
export function version(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    const url = new URL(path, import.meta.url);
    if (!existsSync(url)) continue;
    const manifest: unknown = JSON.parse(readFileSync(url, 'utf8'));
    if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  }
  return 'unknown';
}
