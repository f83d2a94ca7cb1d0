import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { tryLoadSettings } from '../config/load-settings.ts';
import { deployFiles } from './deploy-files.ts';
import { WORKER_CHECKS } from './worker-checks.ts';

const root = new URL('../../', import.meta.url);
const files = deployFiles();

describe('manifests under deploy/ that are made from the code', () => {
  it.each([...files])('%s is fresh (else run node scripts/envoy-files.mjs)', (path, text) => {
    const file = new URL(path, root);

    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });

  it.each(['deploy/kustomize/', 'deploy/helm/smg-envoy/files/'])('%s holds no others', (folder) => {
    const at = fileURLToPath(new URL(folder, root));
    const found = readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => folder + relative(at, join(entry.parentPath, entry.name)));

    expect(found.sort()).toEqual([...files.keys()].filter((path) => path.startsWith(folder)).sort());
  });
});

describe('the templates of the Helm chart', () => {
  const templates = [...files].filter(([path]) => path.includes('/helm/'));

  it.each(templates)('%s has no stand-in left, and expressions of known values only', (_, text) => {
    const values = parse(readFileSync(new URL('deploy/helm/smg-envoy/values.yaml', root), 'utf8'));
    const named = [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path.split('.'));

    expect(text).not.toMatch(/x[a-z]+x\b(?!-)|6499[89]/);
    expect(named.length).toBeGreaterThanOrEqual(0);
    for (const path of named) {
      expect(path.reduce((at, key) => at?.[key], values)).toBeDefined();
    }
  });
});

describe('settings in the manifests', () => {
  const maps = [...files].filter(([path]) => path.endsWith('config-map.yaml'));

  it.each(maps)('%s holds a config file that the service accepts', (_, text) => {
    const { data } = parse(text) as { data: Record<string, string> };
    const result = tryLoadSettings({
      flags: [{ key: 'config', flag: '--config', negated: false, words: ['config.yaml'] }],
      env: {},
      checks: WORKER_CHECKS,
      readFile: () => data['config.yaml'] ?? '',
    });

    expect(result).toMatchObject({ ok: true });
  });
});
