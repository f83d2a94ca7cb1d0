import { readFileSync } from 'node:fs';

/** One file of the page. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Files of the page, by the path they are served at. */
export type Assets = readonly Asset[];

const FILES = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/dashboard/app.js', file: 'app.js', type: 'text/javascript; charset=utf-8' },
  { path: '/dashboard/app.css', file: 'app.css', type: 'text/css; charset=utf-8' },
  { path: '/dashboard/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
] as const;

/** The page as it was built into `folder`, read once. Null where it was not built, as from the sources. */
export function readAssets(folder: URL): Assets | null {
  try {
    return FILES.map(({ path, file, type }) => ({ path, type, bytes: readFileSync(new URL(file, folder)) }));
  } catch {
    return null;
  }
}
