import { readFileSync } from 'node:fs';
import type { Check } from '../../conformance/check.ts';
import type { Connection } from '../../conformance/connection.ts';
import { isEndpoint } from '../../conformance/endpoint.ts';
import type { ConnectionOptions } from '../../conformance/picker-connection.ts';
import type { RunOptions } from '../../conformance/run-checks.ts';
import { AppError, messageOf } from '../../util/app-error.ts';
import type { CliCommand, Shell } from '../command.ts';
import { renderTable } from '../table.ts';

interface Options {
  readonly target?: string;
  readonly endpoints?: readonly string[];
  readonly model?: string;
  readonly path: string;
  readonly body?: string;
  readonly stickyHeader?: string;
  readonly overloadedTarget?: string;
  readonly healthTarget?: string;
  readonly testEndpointSelection?: boolean;
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly timeout: string;
  readonly resets: string;
  readonly tls?: boolean;
  readonly tlsCaPath?: string;
  readonly authority?: string;
  readonly json?: boolean;
  readonly list?: boolean;
}

/** `smg-envoy conformance`: tries any endpoint picker over gRPC, as a data plane would (interface 2). */
export const conformanceCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('conformance')
      .description('try an endpoint picker, this one or any other, by the Endpoint Picker Protocol')
      .option('--target <host:port>', 'the gRPC port of the picker')
      .option('--endpoints <ip:port...>', 'its ready endpoints (default: found by asking for picks)')
      .option('--sticky-header <name>', 'header whose value is a sticky key, if the picker has one')
      .option('--overloaded-target <host:port>', 'a picker that sheds every request, for 429')
      .option('--health-target <host:port>', 'port of its health service, without TLS (default: that of --target)')
      .option('--model <id>', 'model to name in requests')
      .option('--path <path>', 'path of requests', '/v1/chat/completions')
      .option('--body <file>', 'JSON body of ordinary requests (default: chat requests, each different)')
      .option('--only <id...>', 'run these checks only')
      .option('--skip <id...>', 'run all checks but these')
      .option('--timeout <secs>', 'longest wait for an answer', '5')
      .option('--resets <n>', 'streams that E15 resets', '1000')
      .option('--test-endpoint-selection', 'the picker has the test switch of the gateway suite on')
      .option('--tls', 'connect over TLS; any certificate will do unless --tls-ca-path is given')
      .option('--tls-ca-path <file>', 'CA that must have signed the certificate; implies --tls')
      .option('--authority <name>', 'name to use in :authority and TLS')
      .option('--json', 'results as JSON, with every finding')
      .option('--list', 'print the checks and run none');
    command.action(run((shell) => conformance(command.opts<Options>(), shell)));
  },
};

async function conformance(options: Options, shell: Shell): Promise<number> {
  const { CHECKS } = await import('../../conformance/catalogue.ts');
  const checks = chosen(CHECKS, options);
  if (options.list === true) {
    if (options.json === true) {
      shell.out(
        `${JSON.stringify(
          checks.map(({ id, title, source }) => ({ id, title, source })),
          null,
          2,
        )}\n`,
      );
      return 0;
    }
    const rows = checks.map(({ id, title, source }) => [id, title, source]);
    shell.out(renderTable(['ID', 'CHECK', 'SOURCE'], rows));
    return 0;
  }
  const { PickerConnection } = await import('../../conformance/picker-connection.ts');
  const { FULL_LOAD, runChecks } = await import('../../conformance/run-checks.ts');
  const { Report } = await import('../../conformance/report.ts');
  if (options.target === undefined) throw new AppError('invalid_usage', '--target HOST:PORT is required');
  const opener = (address: string, flag: string, tls = tlsOf(options)): (() => Connection) => {
    const to = connectionTo(address, flag, tls, options);
    return () => new PickerConnection(to);
  };
  const { overloadedTarget: overloaded, healthTarget: health } = options;
  const runOptions: RunOptions = {
    connect: opener(options.target, '--target'),
    requests: { path: pathOf(options.path), model: options.model ?? null, body: bodyOf(options.body) },
    name: `conformance-${Date.now().toString(36)}`,
    knowledge: {
      endpoints: options.endpoints === undefined ? null : endpointsOf(options.endpoints),
      stickyHeader: headerOf(options.stickyHeader),
      overloaded: overloaded === undefined ? null : opener(overloaded, '--overloaded-target'),
      // Kubernetes probes without TLS, so that a health service with a port of its own has none.
      health: health === undefined ? null : opener(health, '--health-target', null),
      testSelection: options.testEndpointSelection === true,
    },
    load: { ...FULL_LOAD, resets: wholeNumber('--resets', options.resets, 1_000_000) },
  };
  const report = new Report(checks);
  const json = options.json === true;
  if (!json) shell.out(report.header());
  const results = await runChecks(checks, runOptions, (result) => {
    if (!json) shell.out(report.row(result));
  });
  shell.out(json ? `${JSON.stringify({ target: options.target, results }, null, 2)}\n` : report.details(results));
  return results.some(({ result }) => result === 'fail') ? 1 : 0;
}

function chosen(checks: readonly Check[], { only, skip }: Options): readonly Check[] {
  const wanted = idsOf('--only', only, checks);
  const unwanted = idsOf('--skip', skip, checks);
  return checks.filter(({ id }) => (wanted === null || wanted.has(id)) && unwanted?.has(id) !== true);
}

function idsOf(
  flag: string,
  lists: readonly string[] | undefined,
  checks: readonly Check[],
): ReadonlySet<string> | null {
  if (lists === undefined) return null;
  const ids = lists.flatMap((list) => list.split(',')).map((id) => id.trim().toUpperCase());
  for (const id of ids) {
    if (checks.some((check) => check.id === id)) continue;
    throw new AppError('invalid_usage', `${flag} ${id}: expected ids of ${checks.map((check) => check.id).join(', ')}`);
  }
  return new Set(ids);
}

function endpointsOf(lists: readonly string[]): readonly string[] {
  const all = lists.flatMap((list) => list.split(',')).filter((it) => it !== '');
  for (const it of all) {
    if (!isEndpoint(it))
      throw new AppError('invalid_usage', `--endpoints ${it}: expected ip:port or [ipv6]:port in its shortest form`);
  }
  return all;
}

function tlsOf({ tls, tlsCaPath }: Options): ConnectionOptions['tls'] {
  const ca = tlsCaPath === undefined ? null : fileOf('--tls-ca-path', tlsCaPath);
  return tls === true || ca !== null ? { ca } : null;
}

function connectionTo(
  address: string,
  flag: string,
  tls: ConnectionOptions['tls'],
  options: Options,
): ConnectionOptions {
  const port = Number(/^(?!https?:).+:(\d{1,5})$/.exec(address)?.[1]);
  if (!/^unix:./.test(address) && !(port >= 1 && port <= 65_535)) {
    throw new AppError('invalid_usage', `${flag} ${address}: expected HOST:PORT or unix:PATH`);
  }
  return {
    address,
    timeoutMs: wholeNumber('--timeout', options.timeout, 3600) * 1000,
    tls,
    authority: options.authority ?? null,
  };
}

function pathOf(path: string): string {
  if (/^\/[\x21-\x7e]*$/.test(path)) return path;
  throw new AppError('invalid_usage', `--path ${path}: expected a path that starts with /`);
}

function headerOf(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return name.toLowerCase();
  throw new AppError('invalid_usage', `--sticky-header ${name}: expected a header name`);
}

function bodyOf(path: string | undefined): Buffer | null {
  return path === undefined ? null : fileOf('--body', path);
}

function fileOf(flag: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new AppError('unreadable_file', `${flag} ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new AppError('invalid_usage', `${flag} ${text}: expected a whole number from 1 to ${max}`);
}
