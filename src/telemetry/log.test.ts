import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { keyHash } from './key-hash.ts';
import type { LogLevel } from './log.ts';
import { createLog, LOG_LEVELS } from './log.ts';

function capture(level: LogLevel, json: boolean) {
  const lines: string[] = [];
  return { lines, log: createLog({ level, json, destination: { write: (line: string) => lines.push(line) } }) };
}

describe('interface 11 logs', () => {
  it('are one JSON object a line with --log-json', () => {
    const { lines, log } = capture('info', true);

    log.child('registry').warn('worker is not ready', { worker: 'http://a:1', error: new Error('refused') });

    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      component: 'registry',
      worker: 'http://a:1',
      msg: 'worker is not ready',
      error: { type: 'Error', message: 'refused' },
    });
  });

  it('are readable otherwise', () => {
    const { lines, log } = capture('info', false);

    log.info('worker is ready', { worker: 'http://a:1' });

    expect(lines.join('')).toMatch(/^\[.*\] INFO: worker is ready \{"worker":"http:\/\/a:1"\}\n$/);
  });

  it.each(LOG_LEVELS.map((level, i) => [level, LOG_LEVELS.slice(0, i + 1)] as const))(
    'at level %s hold %j',
    (level, expected) => {
      const { lines, log } = capture(level, true);

      for (const each of LOG_LEVELS) log[each]('x');

      expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
      for (const each of LOG_LEVELS) expect(log.enabled(each)).toBe(expected.includes(each));
    },
  );

  it('change their level for every component at once', () => {
    const { lines, log } = capture('warn', true);
    const child = log.child('registry').child('probe');
    child.info('unseen');

    log.setLevel('info');
    child.info('seen');
    log.debug('unseen');

    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['seen']);
    expect(child.enabled('info')).toBe(true);
  });

  it.each([true, false])('are written before the process exits, to stderr only (json %s)', (json) => {
    const script = `
      const { runnerImport } = await import('vite');
      const { module } = await runnerImport('src/telemetry/log.ts');
      module.createLog({ level: 'info', json: ${json} }).error('last words');
      process.exit(3);`;

    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });

    expect(run.status).toBe(3);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain('last words');
  });
});

describe('the hash of a key', () => {
  it('is short, stable and the same for text and bytes', () => {
    expect(keyHash('sess-42')).toMatch(/^[0-9a-f]{12}$/);
    expect(keyHash('clé')).toBe(keyHash(Buffer.from('clé')));
    expect(keyHash('sess-42')).not.toBe(keyHash('sess-43'));
  });
});
