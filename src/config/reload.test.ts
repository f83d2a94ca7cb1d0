import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flagUses, load } from '../../test/support/try-load.ts';
import { until } from '../../test/support/until.ts';
import { loadSettings, tryLoadSettings } from './load-settings.ts';
import { type ConfigChange, ConfigWatch, compare } from './reload.ts';

describe('compare', () => {
  it('keeps the old value of what needs a restart, and says so', () => {
    const old = load({ file: 'policy: random\ngrpc_port: 1\nretry_max_retries: 3' });
    const fresh = load({ file: 'policy: manual\ngrpc_port: 2\nretry_max_retries: 4' });

    const change = compare(old, fresh);

    expect([...change.changed].sort()).toEqual(['grpcPort', 'policy', 'retryMaxRetries']);
    expect(change.restartNeeded).toEqual(['grpcPort']);
    expect(change.envoyNeeded).toEqual(['retryMaxRetries']);
    expect(change.loaded.settings.policy).toBe('manual');
    expect(change.loaded.settings.grpcPort).toBe(1);
    expect(Object.isFrozen(change.loaded.settings)).toBe(true);
  });

  it('goes on saying so until the restart', () => {
    const first = compare(load({ file: 'grpc_port: 1' }), load({ file: 'grpc_port: 2' }));
    const second = compare(first.loaded, load({ file: 'grpc_port: 2\nlog_level: debug' }));

    expect(second.restartNeeded).toEqual(['grpcPort']);
  });

  it('sees changed workers and derived settings', () => {
    const old = load({ file: 'workers: [{url: "http://a:1"}]' });
    const fresh = load({ file: 'workers: [{url: "http://b:1"}]\nrouting_key_order: header-only' });

    const change = compare(old, fresh);

    expect([...change.changed].sort()).toEqual(['routingKeySources', 'workers']);
    expect(change.loaded.workers.map((worker) => worker.value)).toEqual([{ url: 'http://b:1' }]);
    expect(
      compare(fresh, load({ file: '# moved\nrouting_key_order: header-only\nworkers: [{url: "http://b:1"}]' })).changed,
    ).toEqual([]);
  });
});

describe('compare counts workers that are lost', () => {
  const two = 'workers: [{url: "http://a:1"}]\nworker_urls: ["http://b:1"]';

  it.each([
    [two, 'workers: []', {}, 2],
    [two, 'workers: []\nworker_urls: ["http://b:1"]', {}, 0],
    [two, 'workers: [{url: "http://c:1"}]', {}, 0],
    ['workers: []', 'log_level: debug', {}, 0],
    ['worker_urls: ["http://b:1"]', 'log_level: debug', { SMG_WORKER_URLS: 'http://c:1' }, 0],
  ])('%j then %j with %j: %d', (before, after, env, count) => {
    expect(compare(load({ file: before, env }), load({ file: after, env })).workersLost).toBe(count);
  });
});

describe('interface 4 reload', () => {
  let folder: string;
  let path: string;
  let watching: ConfigWatch | undefined;
  let changes: ConfigChange[];
  let failures: string[][];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'smg-envoy-reload-'));
    path = join(folder, 'config.yaml');
    changes = [];
    failures = [];
  });

  afterEach(() => {
    watching?.close();
    watching = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  function start(): ConfigWatch {
    const input = { flags: flagUses(['--config', path]), env: {} };
    watching = new ConfigWatch({
      path,
      loaded: loadSettings(input),
      load: (text) => tryLoadSettings({ ...input, readFile: () => text }),
      listener: {
        changed: (change) => changes.push(change),
        failed: (problems) => failures.push([...problems]),
      },
      settleMs: 10,
    });
    return watching;
  }

  function held(): number | undefined {
    return changes.at(-1)?.loaded.settings.fallbacks;
  }

  it('sees a write in place', async () => {
    writeFileSync(path, 'fallbacks: 1');
    start();

    for (const fallbacks of [3, 4, 5]) {
      writeFileSync(path, `fallbacks: ${fallbacks}`);
      await until(() => held() === fallbacks, `fallbacks ${fallbacks}`);
    }

    expect(changes[0]?.changed).toEqual(['fallbacks']);
    expect(failures).toEqual([]);
  });

  it('sees a file put in its place by rename, again and again', async () => {
    writeFileSync(path, 'fallbacks: 1');
    start();

    for (const fallbacks of [3, 4, 5]) {
      writeFileSync(`${path}.new`, `fallbacks: ${fallbacks}`);
      renameSync(`${path}.new`, path);
      await until(() => held() === fallbacks, `fallbacks ${fallbacks}`);
    }
  });

  // Each loop writes more than once: the first change could be found by the look that a watch takes when it starts.
  it('sees the symlinks of a ConfigMap swapped, again and again', async () => {
    const publish = (version: number): void => {
      const name = `..version${version}`;
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'config.yaml'), `fallbacks: ${version}`);
      symlinkSync(name, join(folder, '..data.new'));
      renameSync(join(folder, '..data.new'), join(folder, '..data'));
      rmSync(join(folder, `..version${version - 1}`), { recursive: true, force: true });
    };
    publish(1);
    symlinkSync(join('..data', 'config.yaml'), path);
    start();

    for (const version of [2, 3, 4]) {
      publish(version);
      await until(() => held() === version, `version ${version}`);
    }
    expect(failures).toEqual([]);
  });

  it('sees a write to the file that a symlink leads to', async () => {
    const real = join(folder, 'elsewhere');
    mkdirSync(real);
    writeFileSync(join(real, 'real.yaml'), 'fallbacks: 1');
    symlinkSync(join(real, 'real.yaml'), path);
    start();

    for (const fallbacks of [3, 4, 5]) {
      writeFileSync(join(real, 'real.yaml'), `fallbacks: ${fallbacks}`);
      await until(() => held() === fallbacks, `fallbacks ${fallbacks}`);
    }
  });

  it('keeps what holds when the file is broken, says why once, and goes on when it is mended', async () => {
    writeFileSync(path, 'fallbacks: 1');
    const watch = start();

    writeFileSync(path, 'fallbacks: x');
    await until(() => failures.length === 1, 'a failure');
    expect(failures[0]).toEqual([`${path}:1:12: fallbacks: x: expected a whole number from 0 to 100`]);
    expect(changes).toEqual([]);

    writeFileSync(path, 'fallbacks: 1');
    await until(() => changes.length === 1, 'recovery');
    expect(changes[0]?.changed).toEqual([]);
    watch.reload();
    expect(failures).toHaveLength(1);
  });

  it.each(['', ' \n\n', '# moved\n', '---\n', 'null'])('keeps what holds when the file is empty: %j', (text) => {
    writeFileSync(path, 'workers: [{url: "http://a:1"}]');
    const watch = start();

    writeFileSync(path, text);
    watch.reload();

    expect(changes).toEqual([]);
    expect(failures).toEqual([
      [`${path}: is empty; what holds stays (write {} for a file that sets nothing, workers: [] for no workers)`],
    ]);
  });

  it('has nothing against an empty file that was empty before', () => {
    writeFileSync(path, '# nothing yet');
    const watch = start();

    writeFileSync(path, '');
    watch.reload();

    expect(failures).toEqual([]);
    expect(changes).toHaveLength(1);
  });

  it('takes an empty mapping for meant so', () => {
    writeFileSync(path, 'workers: [{url: "http://a:1"}]');
    const watch = start();

    writeFileSync(path, '{}');
    watch.reload();

    expect(failures).toEqual([]);
    expect(changes[0]?.loaded.workers).toEqual([]);
    expect(changes[0]?.workersLost).toBe(1);
  });

  it('refuses what is no regular file any more', () => {
    writeFileSync(path, 'fallbacks: 1');
    const watch = start();

    unlinkSync(path);
    mkdirSync(path);
    watch.reload();

    expect(failures).toEqual([[`${path}: cannot be read: it is not a regular file`]]);
  });

  it('waits for a file that went away', async () => {
    writeFileSync(path, 'fallbacks: 1');
    start();

    unlinkSync(path);
    await until(() => failures.length === 1, 'a failure');
    expect(failures[0]?.[0]).toMatch(/config\.yaml: cannot be read: ENOENT/);

    writeFileSync(path, 'fallbacks: 3');
    await until(() => held() === 3, 'new settings');
  });

  it('sees a change between the first reading and the watch', async () => {
    writeFileSync(path, 'fallbacks: 1');
    const watch = start();
    writeFileSync(path, 'fallbacks: 3');

    await until(() => held() === 3, 'new settings');
    expect(watch).toBe(watching);
  });

  it('reads at once when asked to, and reports even without a change', () => {
    writeFileSync(path, 'fallbacks: 1');
    const watch = start();

    watch.reload();
    expect(changes).toHaveLength(1);
    expect(changes[0]?.changed).toEqual([]);

    writeFileSync(path, '- broken');
    watch.reload();
    watch.reload();
    expect(failures).toHaveLength(2);
  });

  it('does nothing once it is closed', async () => {
    writeFileSync(path, 'fallbacks: 1');
    const watch = start();
    watch.close();

    writeFileSync(path, 'fallbacks: 3');
    watch.reload();
    const other = start();
    await until(() => other === watching && held() === undefined, 'nothing');

    expect(changes).toEqual([]);
  });
});
