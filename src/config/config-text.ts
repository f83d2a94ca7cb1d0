import { readFileSync, statSync } from 'node:fs';

/** Far above any fleet that could be declared in a file. */
const MAX_MIB = 8;

/**
 * Text of a config file. A device could be endless and a pipe could block, so only regular files are read.
 *
 * @throws Error that completes "cannot be read: …"
 */
export function readConfigText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > MAX_MIB * 1024 * 1024) throw new Error(`it is larger than ${MAX_MIB} MiB`);
  return readFileSync(path, 'utf8');
}
