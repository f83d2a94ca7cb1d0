import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { AppError } from '../../util/app-error.ts';
import { type AdminOptions, asList, clientOf, LONGEST_CELL, membersTable, print, textOf } from '../admin-answer.ts';
import { type AdminClient, addAdminFlags, field } from '../admin-client.ts';
import type { CliCommand, Run } from '../command.ts';
import { renderTable } from '../table.ts';

interface AddOptions extends AdminOptions {
  readonly name?: string;
  readonly model?: readonly string[];
  readonly priority?: number;
  readonly cost?: number;
  readonly label?: readonly string[];
  readonly wait?: number;
}

const REMOVES =
  'forget a worker; its running requests end by themselves, and it is gone after --drain-settle-secs at the latest';

/** `smg-envoy workers …`: client of the admin API for workers (interface 2 and 9). */
export const workersCommand: CliCommand = {
  register(program, run) {
    const workers = program.command('workers').description('list and change the workers of a running service');
    list(workers, run);
    show(workers, run);
    add(workers, run);
    change(workers, run, 'drain', 'POST', '/drain', 'let pinned keys stay on a worker and send new ones elsewhere');
    change(workers, run, 'undrain', 'POST', '/undrain', 'take a drain back');
    change(workers, run, 'remove', 'DELETE', '', REMOVES);
  },
};

function list(workers: Command, run: Run): void {
  const command = addAdminFlags(workers.command('list').description('all workers with their state'));
  command.action(
    run(async (shell) => {
      const options = command.opts<AdminOptions>();
      const answer = await clientOf(options).ask('GET', '/workers', 'workers');
      const rows = asList(field(answer, 'workers'));
      print(shell, options, answer, () =>
        renderTable(
          COLUMNS.map(([title]) => title),
          rows.map(rowOf),
          LONGEST_CELL,
        ),
      );
      return 0;
    }),
  );
}

const COLUMNS: readonly (readonly [string, (worker: unknown) => string])[] = [
  ['ID', (worker) => textOf(field(worker, 'id'))],
  ['STATUS', (worker) => textOf(field(worker, 'status'))],
  [
    'MODELS',
    (worker) =>
      asList(field(worker, 'models'))
        .map((model) => textOf(field(model, 'id') ?? model))
        .join(',') || 'any',
  ],
  ['LOAD', (worker) => textOf(field(worker, 'load'))],
  ['KEYS', (worker) => textOf(field(worker, 'routing_keys'))],
  ['SOURCE', (worker) => textOf(field(worker, 'source'))],
  ['LAST PROBE', (worker) => textOf(field(field(worker, 'last_probe'), 'detail'))],
];

function rowOf(worker: unknown): string[] {
  return COLUMNS.map(([, cell]) => cell(worker));
}

function show(workers: Command, run: Run): void {
  const command = addAdminFlags(workers.command('get <id>').description('one worker, everything that is known'));
  command.action(
    run(async (shell) => {
      const options = command.opts<AdminOptions>();
      const answer = await clientOf(options).ask('GET', pathOf(command.args[0]), 'id');
      print(shell, options, answer, () => membersTable(answer));
      return 0;
    }),
  );
}

function add(workers: Command, run: Run): void {
  const command = addAdminFlags(workers.command('add <url>').description('add a worker'));
  command
    .option('--name <name>', 'name of the worker')
    .option('--model <id...>', 'models it serves; without: asked from the worker')
    .option('--priority <n>', 'its priority', count)
    .option('--cost <x>', 'its cost', amount)
    .option('--label <key=value...>', 'its labels')
    .option('--wait <secs>', 'wait until it is ready, at most so many seconds', amount);
  command.action(
    run(async (shell) => {
      const options = command.opts<AddOptions>();
      const client = clientOf(options);
      const answer = await client.ask('POST', '/workers', 'worker_id', specOf(command.args[0] ?? '', options));
      const id = textOf(field(answer, 'worker_id'));
      if (options.wait === undefined) {
        print(shell, options, answer, () => `${textOf(field(answer, 'message'))}: ${id}\n`);
        return 0;
      }
      const worker = await untilReady(client, id, options.wait);
      print(shell, options, worker, () => `Worker is ready: ${id}\n`);
      return 0;
    }),
  );
}

function specOf(url: string, options: AddOptions): Record<string, unknown> {
  const { name, model, priority, cost, label } = options;
  const labels = label?.map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at <= 0) throw new AppError('invalid_usage', `--label ${text}: expected key=value`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return {
    url,
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { models: model.map((id) => ({ id })) }),
    ...(priority === undefined ? {} : { priority }),
    ...(cost === undefined ? {} : { cost }),
    ...(labels === undefined ? {} : { labels: Object.fromEntries(labels) }),
  };
}

async function untilReady(client: AdminClient, id: string, seconds: number): Promise<unknown> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const worker = await client.ask('GET', pathOf(id), 'id');
    const status = field(worker, 'status');
    if (status === 'ready') return worker;
    if (performance.now() >= deadline) {
      const probe = textOf(field(field(worker, 'last_probe'), 'detail'));
      throw new AppError('timed_out', `${id} is ${textOf(status)} after ${seconds} s; its last probe: ${probe}`);
    }
    await pause(Math.min(200, Math.max(1, deadline - performance.now())));
  }
}

function change(workers: Command, run: Run, name: string, method: string, suffix: string, about: string): void {
  const command = addAdminFlags(workers.command(`${name} <id>`).description(about));
  command.action(
    run(async (shell) => {
      const options = command.opts<AdminOptions>();
      const answer = await clientOf(options).ask(method, `${pathOf(command.args[0])}${suffix}`, 'worker_id');
      print(
        shell,
        options,
        answer,
        () => `${textOf(field(answer, 'message'))}: ${textOf(field(answer, 'worker_id'))}\n`,
      );
      return 0;
    }),
  );
}

/** A worker id is a URL without a slash at its end, so its other slashes must be hidden in a path. */
function pathOf(id = ''): string {
  return `/workers/${encodeURIComponent(id.replace(/\/$/, ''))}`;
}

function count(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number of at least 0');
  return Number(text);
}

function amount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number of at least 0');
  return Number(text);
}
