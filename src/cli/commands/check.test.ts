import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flawed, generated } from '../../../test/support/envoy-check.ts';
import { runProgram } from '../program.ts';
import { checkCommand } from './check.ts';

const folder = mkdtempSync(join(tmpdir(), 'check-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function check(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const shell = { env: {}, out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await runProgram([checkCommand], ['check', ...words], shell);
  return { code, out, err };
}

let good = '';
let warned = '';
let broken = '';
beforeAll(async () => {
  const yaml = await generated([]);
  good = file('good.yaml', yaml);
  warned = file(
    'warned.yaml',
    flawed(yaml, ({ manager }) => (manager.proxy_100_continue = true)),
  );
  broken = file(
    'broken.yaml',
    flawed(yaml, ({ filter }) => (filter.observability_mode = true)),
  );
});

const STORE = ['--pin-store', 'rediss://10.0.0.1'];

describe('interface 2: check without a file', () => {
  it('says that settings are right', async () => {
    const config = file('good-config.yaml', 'policy: round_robin\n');

    expect(await check('--config', config)).toEqual({ code: 0, out: 'settings: ok\n', err: '' });
  });

  it('reads the workers file as the start of the service does', async () => {
    const workers = file(
      'workers.yaml',
      '- url: http://10.0.0.1:8000\n- {url: http://10.0.0.2:8000, priority: high}\n',
    );
    const { code, out, err } = await check('--workers-file', workers);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`--workers-file: ${workers}:2:41: priority: `);
    const secure = file('secure.yaml', '- url: https://10.0.0.1:8000\n');
    expect((await check('--workers-file', secure)).err).toContain(`${secure}:1:8: worker URL "https:`);
    expect((await check('--workers-file', '/nowhere')).err).toContain('/nowhere: cannot be read: ');
    expect((await check('--workers-file', secure, '--worker-schemes', 'https')).out).toBe('settings: ok\n');
  });

  it.each([
    [['--policy', 'bogus'], '--policy bogus: expected'],
    [['--nonsense'], 'unknown flag --nonsense'],
    [['--envoy-version', '1.9'], '--envoy-version 1.9: expected 1.34'],
    [['--picker', 'here'], '--picker here: expected HOST:PORT'],
    [['--envoy', '/nowhere'], '--envoy /nowhere: cannot be read'],
    [[...STORE, '--pin-store-password-file', '/nowhere'], '--pin-store-password-file /nowhere: cannot be read'],
    [[...STORE, '--pin-store-ca-path', '/nowhere'], '--pin-store-ca-path /nowhere: cannot be read'],
    [[...STORE, '--pin-key-hmac-file', '/nowhere'], '--pin-key-hmac-file /nowhere: cannot be read'],
  ])('%j ends with 2', async (words, message) => {
    const { code, out, err } = await check(...words);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('tells the place of what is wrong in the config file', async () => {
    const config = file('bad-config.yaml', 'policy: round_robin\nmax_pins: many\n');

    const { code, err } = await check('--config', config);

    expect(code).toBe(2);
    expect(err).toContain(`${config}:2:11`);
  });
});

describe('interface 2: check --envoy', () => {
  it.each([
    ['nothing found', () => good, [], 0],
    ['a warning', () => warned, [], 0],
    ['a warning that is to fail', () => warned, ['--strict'], 2],
    ['an error', () => broken, [], 2],
  ] as const)('%s', async (_, path, more, code) => {
    expect(await check('--envoy', path(), ...more)).toMatchObject({ code, err: '' });
  });

  it('prints place, trap, consequence and cure', async () => {
    const { out } = await check('--envoy', broken);

    expect(out).toMatch(/^settings: ok\n/);
    expect(out.replaceAll(folder, '')).toMatch(
      /^\/broken\.yaml:\d+:\d+: error T55: observability_mode\n {4}Envoy ignores every answer of the service\.\n {4}typed_config of the ext_proc filter:\n {6}# delete observability_mode$/m,
    );
    expect(out).toMatch(/: 1 error\n$/);
  });

  it('counts what it found', async () => {
    const { out } = await check('--envoy', broken, warned);

    expect(out).toMatch(/: 1 error, 1 warning\n$/);
  });

  it('says that nothing was found', async () => {
    expect((await check('--envoy', good)).out).toBe(`settings: ok\n${good}: no findings\n`);
  });

  it('prints JSON for programs', async () => {
    const { out } = await check('--envoy', broken, '--json');

    expect(JSON.parse(out)).toMatchObject({
      problems: [],
      findings: [{ trap: 'T55', level: 'error', file: broken, line: expect.any(Number), column: expect.any(Number) }],
      not_judged: [],
    });
  });

  it('judges by the settings', async () => {
    expect((await check('--envoy', good, '--envoy-body-limit', '33554432')).out).toContain('T14');
    expect((await check('--envoy', good, '--policy', 'consistent_hashing')).out).toContain('T61');
  });

  it('refuses what is no configuration of Envoy', async () => {
    const { code, out } = await check('--envoy', file('other.yaml', 'a: b\n'));

    expect(code).toBe(2);
    expect(out).toContain('other.yaml:1:1: this is no configuration of Envoy');
  });
});
