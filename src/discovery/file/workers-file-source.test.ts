import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiscoveryLog } from '../../../test/support/discovery-log.ts';
import { until } from '../../../test/support/until.ts';
import { Registry } from '../../workers/registry.ts';
import type { NamePool } from '../dns/name-pool.ts';
import { WorkersFileSource } from './workers-file-source.ts';

let folder: string;
let source: WorkersFileSource | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-workers-'));
});
afterEach(() => {
  source?.close();
  rmSync(folder, { recursive: true, force: true });
});

function follow(path: string) {
  const registry = new Registry();
  const log = new DiscoveryLog();
  let pools: readonly NamePool[] = [];
  const opened = new WorkersFileSource({
    path,
    sink: registry,
    observer: log,
    refuse: () => null,
    settleMs: 20,
    pools: (named) => {
      pools = named;
    },
  });
  source = opened;
  const fleet = () => [...registry.instances].map(({ id }) => id);
  const shows = (...wanted: string[]) =>
    until(() => fleet().join() === wanted.join(), `the fleet is ${wanted}`, 3_000).catch(() =>
      expect(fleet()).toEqual(wanted),
    );
  return { source: opened, log, shows, fleet, registry, pools: () => pools.map(({ id }) => id) };
}

describe('a workers file', () => {
  it('is read at once, and again after a write', async () => {
    const path = join(folder, 'workers.yaml');
    writeFileSync(path, '- url: http://a:1\n- url: dns+http://n:1\n');
    const { source, fleet, shows, pools, registry } = follow(path);
    expect([source.health, fleet(), pools()]).toEqual(['live', ['http://a:1'], ['dns+http://n:1']]);
    expect(registry.current.workers[0]!.source).toBe('workers_file');

    writeFileSync(path, '- url: http://b:1\n- url: http://a:1\n');
    await shows('http://a:1', 'http://b:1');
    expect(pools()).toEqual([]);
  });

  it('is seen when it is put in place by rename', async () => {
    const path = join(folder, 'workers.json');
    writeFileSync(path, '[]');
    const { shows } = follow(path);

    writeFileSync(`${path}.new`, '[{"url": "http://a:1"}]');
    renameSync(`${path}.new`, path);
    await shows('http://a:1');
  });

  it('is seen when a ConfigMap swaps its folder', async () => {
    const publish = (version: string, text: string) => {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'workers.yaml'), text);
      symlinkSync(version, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    publish('..1', '- url: http://a:1');
    symlinkSync(join('..data', 'workers.yaml'), join(folder, 'workers.yaml'));
    const { shows } = follow(join(folder, 'workers.yaml'));
    await shows('http://a:1');

    publish('..2', '- url: http://b:1');
    await shows('http://b:1');
    rmSync(join(folder, '..1'), { recursive: true });
    publish('..3', '- url: http://c:1');
    await shows('http://c:1');
  });

  it('changes nothing while it is bad or away, and says what is wrong', async () => {
    const path = join(folder, 'workers.yaml');
    writeFileSync(path, '- url: http://a:1');
    const { source, log, fleet, shows } = follow(path);

    writeFileSync(path, '- url: http://a:1\n- url: nonsense\n');
    await until(() => source.health === 'stale', 'it is stale');
    expect(source.problem).toMatch(/workers\.yaml:2:8: url: .*nonsense/);

    writeFileSync(path, '');
    await until(() => log.problems.length === 2, 'it says so');
    expect(source.problem).toMatch(/is empty/);

    unlinkSync(path);
    await until(() => log.problems.length === 3, 'it says so');
    expect(source.problem).toMatch(/cannot be read: ENOENT/);
    expect(fleet()).toEqual(['http://a:1']);

    writeFileSync(path, '- url: http://b:1');
    await shows('http://b:1');
    expect([source.health, source.problem]).toEqual(['live', null]);
  });

  it('is unread while it was never good', async () => {
    const path = join(folder, 'workers.yaml');
    const { source, shows } = follow(path);
    expect([source.health, source.problem]).toEqual(['unread', expect.stringMatching(/cannot be read: ENOENT/)]);

    writeFileSync(path, '- url: http://a:1');
    await shows('http://a:1');
    expect(source.health).toBe('live');
  });
});
