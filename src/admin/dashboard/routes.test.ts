import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { AdminBench, expectError } from '../../../test/support/admin-bench.ts';
import { type Assets, readAssets } from './assets.ts';

const KEYS = [{ id: 'view', name: 'View', role: 'user', key: 'look' }] as const;

let bench: AdminBench;

beforeEach(() => {
  bench = new AdminBench();
});
afterEach(() => bench.close());

function page(): Assets | null {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-page-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ['index.html', 'app.js', 'app.css', 'icon.svg']) writeFileSync(join(folder, file), `<${file}>`);
  return readAssets(pathToFileURL(`${folder}/`));
}

it('serves the page to everybody, under a policy that lets nothing else in', async () => {
  await bench.open({ keys: KEYS, dashboard: { ...bench.parts().dashboard, assets: page() } });

  for (const [path, file, type] of [
    ['/', 'index.html', 'text/html; charset=utf-8'],
    ['/dashboard/app.js', 'app.js', 'text/javascript; charset=utf-8'],
    ['/dashboard/app.css', 'app.css', 'text/css; charset=utf-8'],
    ['/dashboard/icon.svg', 'icon.svg', 'image/svg+xml'],
  ] as const) {
    const { status, headers, text } = await bench.ask('GET', path);
    expect([status, headers.get('content-type'), text]).toEqual([200, type, `<${file}>`]);
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
  }
});

it('keeps its data behind the key', async () => {
  await bench.open({ keys: KEYS });

  for (const path of ['/dashboard/overview', '/dashboard/series', '/decisions', '/decisions/stream']) {
    expectError(await bench.ask('GET', path), 401, 'unauthorized', 'Unauthorized');
  }
  const { json } = await bench.ask('GET', '/dashboard/overview', undefined, { authorization: 'Bearer look' });
  expect([json.caller, json.keys_needed]).toEqual([{ id: 'view', role: 'user' }, true]);
});

it('says that it was not built where it was not', async () => {
  await bench.open();

  const answer = await bench.ask('GET', '/');

  expectError(answer, 404, 'not_found', 'Not Found');
  expect(answer.json.error.message).toContain('npm run build');
});

it('tells state, numbers and warnings', async () => {
  await bench.open();
  bench.addReady('http://10.0.0.1:80');
  bench.registry.markSettled();

  const { json } = await bench.ask('GET', '/dashboard/overview');

  expect(json).toMatchObject({
    version: '1.2.3',
    status: 'ready',
    reason: null,
    caller: null,
    keys_needed: false,
    workers: { total: 1, ready: 1, draining: 0, in_flight: 0 },
    pins: { total: 0, store: 'memory', state: null },
    envoy: { connections: 0, eds: { version: 0, clients: [] } },
    warnings: [{ code: 'no_envoy', level: 'bad' }],
  });
});
