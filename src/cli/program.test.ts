import { describe, expect, it } from 'vitest';
import type { Loaded } from '../config/load-settings.ts';
import { AppError } from '../util/app-error.ts';
import type { CliCommand, Work } from './command.ts';
import { runProgram } from './program.ts';
import { addSettingFlags, flagUses, settingsOf } from './setting-flags.ts';

/** Runs a program with one command that takes every setting, and one that does `work`. */
async function run(words: string, work: Work = async () => 0, env: Record<string, string> = {}) {
  const seen: { out: string; err: string; loaded: Loaded | undefined } = { out: '', err: '', loaded: undefined };
  const serve: CliCommand = {
    register(program, bind) {
      const command = addSettingFlags(program.command('serve').description('serves'));
      command.option('--workers <n>', 'of its own');
      command.action(
        bind(async (shell) => {
          seen.loaded = settingsOf(command, shell.env, { defaults: { fallbacks: 7 } });
          expect(flagUses(command).length).toBeGreaterThanOrEqual(0);
          return 0;
        }),
      );
    },
  };
  const other: CliCommand = { register: (program, bind) => void program.command('work').action(bind(work)) };
  const shell = {
    env,
    out: (text: string) => {
      seen.out += text;
    },
    err: (text: string) => {
      seen.err += text;
    },
  };
  const code = await runProgram(
    [serve, other],
    words.split(' ').filter((word) => word !== ''),
    shell,
  );
  return { code, ...seen };
}

describe('interface 2 exit codes', () => {
  it('passes on the exit code of a command', async () => {
    expect((await run('work', async () => 0)).code).toBe(0);
    expect((await run('work', async () => 1)).code).toBe(1);
  });

  it.each([
    ['invalid_configuration', 2],
    ['admin_unreachable', 1],
  ] as const)('%s ends with %d, each line of its message on stderr, without a trace', async (code, exit) => {
    const result = await run('work', async () => {
      throw new AppError(code, 'one\ntwo');
    });

    expect(result).toMatchObject({ code: exit, out: '', err: 'smg-envoy: one\nsmg-envoy: two\n' });
  });

  it('a fault of ours ends with 1 and its trace', async () => {
    const result = await run('work', async () => {
      throw new TypeError('oops');
    });

    expect(result.code).toBe(1);
    expect(result.err).toMatch(/^smg-envoy: oops\nTypeError: oops\n {4}at /);
  });

  it.each([
    ['', /^smg-envoy: no command given; commands are serve, work\n$/],
    ['wrok', /^smg-envoy: unknown command wrok \(did you mean work\?\); commands are serve, work\n$/],
    ['explain --json', /^smg-envoy: unknown command explain; commands are serve, work\n$/],
    ['--bogus', /^smg-envoy: unknown flag --bogus; commands are serve, work\n$/],
    ['work --bogus', /^smg-envoy: unknown option '--bogus'\n$/],
  ])('%j is wrong usage', async (words, message) => {
    const result = await run(words);

    expect(result.code).toBe(2);
    expect(result.out).toBe('');
    expect(result.err).toMatch(message);
  });

  it.each(['--version', '--help', 'serve --help', 'work -h'])('%s prints to stdout and ends with 0', async (words) => {
    const result = await run(words);

    expect(result.code).toBe(0);
    expect(result.err).toBe('');
    expect(result.out).not.toBe('');
  });

  it.each([
    ['help', '--help'],
    ['help work', 'work --help'],
    ['help serve', 'serve --help'],
  ])('%s is %s', async (words, same) => {
    const { code, out, err } = await run(words);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe((await run(same)).out);
  });

  it('help of an unknown command is wrong usage', async () => {
    const { code, err } = await run('help wrok');

    expect(code).toBe(2);
    expect(err).toBe('smg-envoy: unknown command wrok (did you mean work?); commands are serve, work\n');
  });

  it('--version is that of the package', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('help shows what a flag means, its default and its other name, and hides what is not there yet', async () => {
    const { out } = await run('serve --help');

    expect(out).toMatch(/^ {2}--fallbacks <n> .*\(default: 2\)$/m);
    expect(out).toMatch(/^ {2}--worker-urls \[url\.\.\.\] /m);
    expect(out).toMatch(/^ {2}--routing-key-override \[bool\] .*also --sticky-sessions/m);
    expect(out).not.toContain('--enable-trace');
    expect(out.indexOf('Workers:')).toBeLessThan(out.indexOf('Routing:'));
  });
});

describe('interface 3 flags of a command', () => {
  it.each([
    ['serve --worker-urls http://a:1 http://b:2', ['http://a:1', 'http://b:2']],
    ['serve --worker-urls http://a:1 --worker-urls http://b:2', ['http://a:1', 'http://b:2']],
    ['serve --worker-urls=http://a:1 --log-json --worker-urls http://b:2', ['http://a:1', 'http://b:2']],
  ])('%s', async (words, urls) => {
    expect((await run(words)).loaded?.settings.workerUrls).toEqual(urls);
  });

  it.each([
    ['serve', ['x-smg-routing-key']],
    ['serve --routing-key-headers', []],
    ['serve --routing-key-headers --log-json', []],
    ['serve --routing-key-headers X-A x-b --log-json', ['x-a', 'x-b']],
  ])('%s: header keys %j', async (words, headers) => {
    expect((await run(words)).loaded?.settings.routingKeyHeaders).toEqual(headers);
  });

  it.each([
    ['serve --routing-key-override', true],
    ['serve --routing-key-override --log-json', true],
    ['serve --routing-key-override=false', false],
    ['serve --routing-key-override false', false],
    ['serve --sticky-sessions', true],
  ])('%s: override %s', async (words, on) => {
    expect((await run(words)).loaded?.settings.routingKeyOverride).toBe(on);
  });

  it.each([
    ['serve --remove-unhealthy-workers', true],
    ['serve --no-remove-unhealthy-workers', false],
    ['serve --retry-on-reset off --remove-unhealthy-workers', true],
  ])('%s: removes unhealthy workers %s', async (words, on) => {
    expect((await run(words)).loaded?.settings.removeUnhealthyWorkers).toBe(on);
  });

  it.each([
    ['--prefill http://a:1 9000 --prefill http://b:1', ['http://a:1', '9000', 'http://b:1']],
    ['--prefill http://a:1 none http://b:1 9001', ['http://a:1', 'none', 'http://b:1', '9001']],
  ])('policies 7: serve --pd-disaggregation %s', async (words, prefill) => {
    const { loaded } = await run(`serve --pd-disaggregation ${words} --decode http://c:1 --decode http://d:1`);
    expect(loaded?.settings).toMatchObject({ prefill, decode: ['http://c:1', 'http://d:1'] });
  });

  it('keeps defaults of the command below everything else, and its own flags apart', async () => {
    expect((await run('serve --workers 4')).loaded?.settings.fallbacks).toBe(7);
    expect((await run('serve', undefined, { SMG_FALLBACKS: '1' })).loaded?.settings.fallbacks).toBe(1);
    expect((await run('serve --fallbacks 0', undefined, { SMG_FALLBACKS: '1' })).loaded?.settings.fallbacks).toBe(0);
  });

  it.each([
    ['serve --no-such-flag 1', ['unknown flag --no-such-flag']],
    ['serve --fallback 1', ['unknown flag --fallback (did you mean --fallbacks?)']],
    ['serve --worker 1', ['unknown flag --worker (did you mean --workers?)']],
    ['serve --port 30000', [/^--port of SMG is not taken over: .*Envoy/]],
    ['serve extra', ['unexpected argument "extra"']],
    ['serve --policy random more', ['unexpected argument "more"']],
    ['serve --cache-threshold -1', ['--cache-threshold -1: expected a number from 0 to 1']],
    ['serve --policy', [/^--policy needs a value: expected one of/]],
    [
      'serve --worker-urls http://a@1',
      [/^--worker-urls: worker URL "http:\/\/a@1" names a data-parallel rank, which needs --dp-aware/],
    ],
    ['serve --worker-urls ipc://a', [/^--worker-urls: worker URL "ipc:\/\/a" has scheme ipc/]],
    ['serve --client-cert-path a.pem', ['--client-cert-path needs --client-key-path']],
    [
      'serve --pin-store redis://h:0 --cache-threshold 1.5 --nope --host=x',
      [
        'unknown flag --nope',
        /^--host of SMG/,
        /^--pin-store redis:\/\/\*\*\*: the port of the host is not a number/,
        '--cache-threshold 1.5: expected a number from 0 to 1',
      ],
    ],
  ])('%s is refused', async (words, problems) => {
    const result = await run(words);
    const lines = result.err.trimEnd().split('\n');

    expect(result.code).toBe(2);
    expect(result.loaded).toBeUndefined();
    expect(lines.map((line) => line.replace(/^smg-envoy: /, ''))).toEqual(
      problems.map((problem) => (typeof problem === 'string' ? problem : expect.stringMatching(problem))),
    );
  });
});
