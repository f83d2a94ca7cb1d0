import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagUses } from '../../test/support/try-load.ts';
import { readConfigText } from './config-text.ts';
import { tryLoadSettings } from './load-settings.ts';

describe('text of a config file', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'smg-envoy-text-'));
    path = join(folder, 'config.yaml');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is that of a regular file', () => {
    writeFileSync(path, 'fallbacks: 1');

    expect(readConfigText(path)).toBe('fallbacks: 1');
  });

  it.each(['/dev/zero', tmpdir()])('is not read from %s', (other) => {
    expect(tryLoadSettings({ flags: flagUses(['--config', other]), env: {} })).toEqual({
      ok: false,
      problems: [`--config ${other}: cannot be read: it is not a regular file`],
    });
  });

  it('is at most 8 MiB long', () => {
    writeFileSync(path, '#');
    truncateSync(path, 8 * 1024 * 1024);
    expect(readConfigText(path)).toHaveLength(8 * 1024 * 1024);

    truncateSync(path, 8 * 1024 * 1024 + 1);
    expect(() => readConfigText(path)).toThrow('it is larger than 8 MiB');
  });
});
