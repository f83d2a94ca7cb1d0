import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { type Certificate, selfSigned } from '../sim/certificate.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { TlsOptions } from '../transport/transport.ts';
import { readTlsFiles, type TlsPlaces } from './tls-files.ts';
import { TlsReload } from './tls-reload.ts';

const DAY_MS = 86_400_000;

describe('TLS files that change', () => {
  let folder = '';
  let now = Date.now();
  let lines: string[] = [];
  let renewed: TlsOptions[] = [];
  let metrics = createMetrics();
  const reloads: TlsReload[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'smg-tls-reload-'));
    now = Date.now();
    lines = [];
    renewed = [];
    metrics = createMetrics();
  });
  afterEach(() => {
    for (const reload of reloads.splice(0)) reload.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const made = (days = 90): Certificate => selfSigned({ names: ['picker'], now, days });
  const at = (name: string): string => join(folder, name);
  const counted = (result: 'ok' | 'failed'): number => metrics.tlsReloads.cell(result).value;

  function put(pair: Certificate, where = folder): void {
    writeFileSync(join(where, 'tls.crt'), pair.cert);
    writeFileSync(join(where, 'tls.key'), pair.key);
  }

  function replace(name: string, text: string): void {
    writeFileSync(at(`${name}.new`), text);
    renameSync(at(`${name}.new`), at(name));
  }

  function follow(clientCa: string | null = null): TlsReload {
    const places: TlsPlaces = { cert: at('tls.crt'), key: at('tls.key'), clientCa };
    const line = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
    const log = { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') } as Log;
    const reload = new TlsReload({
      places,
      files: readTlsFiles(places, now),
      renew: (tls) => renewed.push(tls),
      metrics,
      log,
      wallClock: () => now,
    });
    reloads.push(reload);
    return reload;
  }

  it('by renames, one file after the other: the pair counts once it fits', async () => {
    put(made());
    follow();
    const next = made();

    replace('tls.crt', next.cert);
    await until(() => counted('failed') === 1, 'the pair that does not fit is told of');
    expect(renewed).toEqual([]);
    replace('tls.key', next.key);

    await until(() => counted('ok') === 1, 'the new pair');
    expect(renewed).toEqual([next]);
    expect(lines).toEqual(['warn: changed TLS files are not used, those before are', 'info: TLS files taken over']);
  });

  it('by a write in place, within a second', async () => {
    put(made());
    follow();
    const next = made();
    const began = performance.now();

    put(next);

    await until(() => renewed.length === 1, 'the new pair');
    expect(renewed).toEqual([next]);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('by the swapped link of a Kubernetes Secret, again and again', async () => {
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), at(name));
    const swap = (version: string, pair: Certificate): void => {
      mkdirSync(at(version));
      put(pair, at(version));
      symlinkSync(version, at('..data_tmp'));
      renameSync(at('..data_tmp'), at('..data'));
    };
    swap('..v1', made());
    follow();

    for (const version of [2, 3, 4]) {
      const next = made();
      swap(`..v${version}`, next);
      rmSync(at(`..v${version - 1}`), { recursive: true });
      await until(() => renewed.at(-1)?.cert === next.cert, `version ${version}`);
    }
    expect(counted('failed')).toBe(0);
  });

  it('an authority of clients counts as well, and a file that is gone does not', async () => {
    put(made());
    writeFileSync(at('ca.pem'), made().cert);
    follow(at('ca.pem'));
    const authority = made().cert;

    replace('ca.pem', authority);
    await until(() => renewed.length === 1, 'the new authority');
    expect(renewed[0]).toMatchObject({ ca: authority, requestCert: true, rejectUnauthorized: true });

    rmSync(at('ca.pem'));
    await until(() => counted('failed') === 1, 'the file that is gone');
    expect(renewed).toHaveLength(1);
  });

  it('tells once that the certificate ends soon, once that it ended, and its end as a metric', () => {
    put(made(90));
    const reload = follow();
    const expiry = metrics.tlsExpiry.cell().value;
    expect(expiry).toBe(Math.floor(now / 1000) + 90 * 86_400);
    expect(lines).toEqual([]);

    for (const day of [75, 77, 80, 91, 92]) {
      now = (expiry - (90 - day) * 86_400) * 1000;
      reload.look();
    }

    expect(lines).toEqual([
      'warn: the certificate of the gRPC port ends soon: renew it',
      'error: the certificate of the gRPC port has expired: Envoy refuses it; renew it',
    ]);
    expect(counted('failed')).toBe(0);
  });

  it('a certificate of a day is told of in its last fifth', () => {
    put(made(1));
    const reload = follow();
    now += DAY_MS / 2;
    reload.look();
    expect(lines).toEqual([]);

    now += DAY_MS / 4;
    reload.look();

    expect(lines).toEqual(['warn: the certificate of the gRPC port ends soon: renew it']);
  });
});
