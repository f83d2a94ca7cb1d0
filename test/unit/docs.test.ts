import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkCommand } from '../../src/cli/commands/check.ts';
import { conformanceCommand } from '../../src/cli/commands/conformance.ts';
import { demoCommand } from '../../src/cli/commands/demo.ts';
import { envoyConfigCommand } from '../../src/cli/commands/envoy-config.ts';
import { explainCommand } from '../../src/cli/commands/explain.ts';
import { pinsCommand } from '../../src/cli/commands/pins.ts';
import { serveCommand } from '../../src/cli/commands/serve.ts';
import { simCommand } from '../../src/cli/commands/sim.ts';
import { workersCommand } from '../../src/cli/commands/workers.ts';
import { WORKER_CHECKS } from '../../src/cli/worker-checks.ts';
import { KNOWN_FLAGS } from '../../src/config/known-flags.ts';
import { tryLoadSettings } from '../../src/config/load-settings.ts';
import { FILE_KEYS, FLAGS } from '../../src/config/names.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { TRANSPORT_LIMITS } from '../../src/telemetry/own-metrics.ts';
import { DEFAULT_LIMITS, type Rate } from '../../src/transport/http2/limits.ts';
import { HTTP_CODES } from '../../src/util/error-codes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = ['.', 'docs', 'envoy', 'proto']
  .flatMap((folder) => markdownIn(folder, folder !== '.'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

function markdownIn(folder: string, deep: boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return deep ? markdownIn(path, true) : [];
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** What is named in the pages and is not known, as `page: name`. */
function unknown(pattern: RegExp, isKnown: (name: string) => boolean): string[] {
  const found = new Set<string>();
  for (const { path, text } of PAGES) {
    for (const [name] of text.matchAll(pattern)) if (!isKnown(name)) found.add(`${path}: ${name}`);
  }
  return [...found];
}

describe('links', () => {
  const links = PAGES.flatMap(({ path, text }) => {
    const prose = text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ path, target }));
  }).filter(({ target }) => !/^[a-z]+:/.test(target));

  it.each(links)('$path leads to $target', ({ path, target }) => {
    const [file = '', anchor] = target.split('#');
    const full = file === '' ? join(root, path) : join(root, dirname(path), file);

    expect(existsSync(full)).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(full)).toContain(anchor);
  });

  it('lead to every page under docs/ from its index', () => {
    const index = PAGES.find(({ path }) => path === 'docs/README.md')?.text ?? '';

    const lost = PAGES.map(({ path }) => relative('docs', path)).filter(
      (path) =>
        !path.startsWith('..') && !path.startsWith('adr/0') && path !== 'README.md' && !index.includes(`(${path})`),
    );

    expect(lost).toEqual([]);
  });
});

/** Headings of a page as GitHub names them. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('names', () => {
  /** Flags of npm, vitest, node, docker and the fuzzer in command lines. */
  const FOREIGN = new Set([
    '--project',
    '--no-save',
    '--expose-gc',
    '--build',
    '--profile',
    '--json',
    '--check',
    '--set',
    '--inputs',
    '--keep',
    '--missed',
    '--plain',
    '--record',
    '--replay',
    '--seed',
  ]);

  it('every flag is one of a command, or of SMG and known by name', () => {
    const program = new Command();
    const commands = [
      serveCommand,
      demoCommand,
      simCommand,
      envoyConfigCommand,
      conformanceCommand,
      checkCommand,
      workersCommand,
      pinsCommand,
      explainCommand,
    ];
    for (const command of commands) command.register(program, () => async () => undefined);
    const flags = new Set([
      '--help',
      '--version',
      ...FLAGS.keys(),
      ...KNOWN_FLAGS.keys(),
      ...FOREIGN,
      ...optionsOf(program),
    ]);

    expect(unknown(/(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]/g, (name) => flags.has(name))).toEqual([]);
  });

  it('every metric is in the table', () => {
    const names = new Set(Object.values(METRICS).map((metric) => metric.name));
    // A trailing underscore is a prefix, as in "smg_envoy_"; one setting has a key that looks like a metric.
    const isKnown = (name: string) =>
      name.endsWith('_') || FILE_KEYS.has(name) || names.has(name.replace(/_(bucket|sum|count)$/, ''));

    expect(unknown(/(?<![\w/.-])smg_[a-z_]+/g, isKnown)).toEqual([]);
  });

  it('every error code that stands with a status is in the table', () => {
    const codes = new Set(Object.keys(HTTP_CODES));
    const named = PAGES.flatMap(({ text }) =>
      [...text.matchAll(/\b[45]\d\d `([a-z_]+)`/g)].map(([, code = '']) => code),
    );

    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((code) => !codes.has(code))).toEqual([]);
  });

  function optionsOf(command: Command): string[] {
    const own = command.options.flatMap((option) => option.long ?? []);
    return [...own, ...command.commands.flatMap(optionsOf)];
  }
});

describe('examples', () => {
  const files = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => ({ path, yaml })),
  ).filter(({ yaml }) => typeof parse(yaml) === 'object');

  it.each(files)('a config file in $path is accepted', ({ yaml }) => {
    const result = tryLoadSettings({
      flags: [{ key: 'config', flag: '--config', negated: false, words: ['example.yaml'] }],
      env: {},
      checks: WORKER_CHECKS,
      readFile: () => yaml,
    });

    expect(result).toMatchObject({ ok: true });
  });
});

describe('limits of a connection', () => {
  const page = PAGES.find(({ path }) => path === 'docs/operations.md')?.text ?? '';
  const [, section = ''] = page.split('## Limits of a connection\n');
  const rows = [...section.matchAll(/^\| `(\w+)` \| `(\w+)` \| ([^|]+) \| ([^|]+) \|/gm)].map(
    ([, limit = '', key = '', value = '', beyond = '']) => ({ limit, key, value, beyond }),
  );

  it('each has its row, by the name that metrics have', () => {
    expect(rows.map(({ key }) => key).toSorted()).toEqual(Object.keys(DEFAULT_LIMITS).toSorted());
    expect(new Set(rows.map(({ limit }) => limit))).toEqual(new Set(TRANSPORT_LIMITS));
  });

  it.each(rows)('$key tells its default', ({ key, value }) => {
    const limit = DEFAULT_LIMITS[key as keyof typeof DEFAULT_LIMITS];

    // What the time is of may stand behind it.
    expect(value.split(' of ')[0]).toBe(shown(key, limit));
  });

  it.each(rows)('$key tells the error that the code names', ({ key, beyond }) => {
    const source = readFileSync(join(root, 'src/transport/http2/limits.ts'), 'utf8');
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*readonly ${key}:`).exec(source)?.[1] ?? '';
    const [, named = ''] = comment.split('More:');

    expect(errorsIn(beyond)).toEqual(errorsIn(named.replaceAll(/\s*\n\s*\* /g, ' ')));
  });

  function shown(key: string, limit: number | Rate): string {
    if (typeof limit !== 'number') return `${count(limit.burst)}, and ${count(limit.perSecond)} a second`;
    if (key.endsWith('Ms')) return `${limit / 1000} s`;
    if (!key.endsWith('Bytes')) return count(limit);
    return limit < 2 ** 20 ? `${limit / 2 ** 10} KiB` : `${limit / 2 ** 20} MiB`;
  }

  function count(value: number): string {
    return value.toLocaleString('en-US');
  }

  /** Frames and codes of RFC 9113 and of gRPC. */
  function errorsIn(text: string): string[] {
    return text.match(/\b[A-Z]+(?:_[A-Z]+)+\b|\bGOAWAY\b/g) ?? [];
  }
});
