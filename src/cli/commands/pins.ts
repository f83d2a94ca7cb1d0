import { type Command, InvalidArgumentError } from 'commander';
import { type AdminOptions, asList, clientOf, LONGEST_CELL, membersTable, print, textOf } from '../admin-answer.ts';
import { type AdminClient, addAdminFlags, field } from '../admin-client.ts';
import type { CliCommand, Run } from '../command.ts';
import { renderTable } from '../table.ts';

interface ListOptions extends AdminOptions {
  readonly limit?: number;
}

interface PinOptions extends AdminOptions {
  readonly model?: string;
  readonly leg?: string;
  readonly tenant?: string;
}

/** `smg-envoy pins …`: client of the admin API for pins (interface 2 and 9). */
export const pinsCommand: CliCommand = {
  register(program, run) {
    const pins = program.command('pins').description('look up and change which worker a conversation is on');
    list(pins, run);
    get(pins, run);
    move(pins, run);
    forget(pins, run);
  },
};

/** Largest page that the service gives. */
const PAGE = 1000;

function list(pins: Command, run: Run): void {
  const command = addAdminFlags(pins.command('list').description('the pins of one service'));
  command.option('--limit <n>', 'at most so many (default: all)', count);
  command.action(
    run(async (shell) => {
      const options = command.opts<ListOptions>();
      const answer = await allPins(clientOf(options), options.limit ?? Number.POSITIVE_INFINITY);
      if (answer.away === true) shell.err('smg-envoy: the pin store does not answer: replicas may differ\n');
      print(shell, options, answer, () => {
        const columns = answer.pins.some((pin) => field(pin, 'tenant') !== undefined) ? [...COLUMNS, TENANT] : COLUMNS;
        return renderTable(
          columns.map(([title]) => title),
          answer.pins.map((pin) => columns.map(([, cell]) => cell(pin))),
          LONGEST_CELL,
        );
      });
      return 0;
    }),
  );
}

/** The pages of the list as one. What changes meanwhile is in it or not. */
async function allPins(client: AdminClient, limit: number) {
  const pins: unknown[] = [];
  let cursor: unknown = null;
  let answer: unknown;
  do {
    const size = Math.min(PAGE, limit - pins.length);
    const next = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
    answer = await client.ask('GET', `/pins?limit=${size}${next}`, 'pins');
    pins.push(...asList(field(answer, 'pins')));
    cursor = field(answer, 'cursor');
  } while (typeof cursor === 'string' && pins.length < limit);
  return { pins, total: field(answer, 'total'), store: field(answer, 'store'), away: field(answer, 'away') };
}

type Column = readonly [title: string, cell: (pin: unknown) => string];

const COLUMNS: readonly Column[] = [
  ['KEY', (pin) => textOf(field(pin, 'key'))],
  ['MODEL', (pin) => textOf(field(pin, 'model'))],
  ['LEG', (pin) => textOf(field(pin, 'leg'))],
  ['WORKER', (pin) => textOf(field(pin, 'worker_id'))],
  ['CANDIDATES', (pin) => asList(field(pin, 'candidates')).map(textOf).join(',')],
  ['IDLE', (pin) => `${textOf(field(pin, 'idle_secs'))} s`],
  ['SHARED', (pin) => (field(pin, 'shared') === true ? 'yes' : 'no')],
];

const TENANT: Column = [
  'TENANT',
  (pin) => {
    const digest = field(pin, 'tenant_digest');
    return digest === undefined ? textOf(field(pin, 'tenant')) : `(digest ${textOf(digest)})`;
  },
];

function get(pins: Command, run: Run): void {
  const command = addPinFlags(pins.command('get <key>').description('one pin, here and in the store of all replicas'));
  command.action(
    run(async (shell) => {
      const options = command.opts<PinOptions>();
      const answer = await clientOf(options).ask('GET', pathOf(command.args[0], options), 'key');
      print(shell, options, answer, () => membersTable(answer));
      return 0;
    }),
  );
}

function move(pins: Command, run: Run): void {
  const command = addPinFlags(
    pins.command('move <key> <worker-id>').description('send a conversation to another worker, on all replicas'),
  );
  command.action(
    run(async (shell) => {
      const options = command.opts<PinOptions>();
      const [key, worker = ''] = command.args;
      // A worker id is a URL without a slash at its end.
      const body = { worker_id: worker.replace(/\/$/, '') };
      const answer = await clientOf(options).ask('PUT', pathOf(key, options), 'key', body);
      print(shell, options, answer, () => `Pin is moved: ${textOf(field(answer, 'key'))} to ${body.worker_id}\n`);
      return 0;
    }),
  );
}

function forget(pins: Command, run: Run): void {
  const command = addPinFlags(
    pins.command('delete <key>').description('forget a pin on all replicas; its next request is placed anew'),
  );
  command.action(
    run(async (shell) => {
      const options = command.opts<PinOptions>();
      const answer = await clientOf(options).ask('DELETE', pathOf(command.args[0], options), 'key');
      print(shell, options, answer, () => `${textOf(field(answer, 'message'))}: ${textOf(field(answer, 'key'))}\n`);
      return 0;
    }),
  );
}

function addPinFlags(command: Command): Command {
  return addAdminFlags(command)
    .option('--model <id>', 'model of the requests (default: the only one there is)')
    .option('--leg <leg>', 'single, or where requests are split prefill or decode (the default there)')
    .option('--tenant <value>', 'value of the header of --tenant-header (default: requests without it)');
}

function pathOf(key = '', { model, leg, tenant }: PinOptions): string {
  const query = new URLSearchParams();
  if (model !== undefined) query.set('model', model);
  if (leg !== undefined) query.set('leg', leg);
  if (tenant !== undefined) query.set('tenant', tenant);
  return `/pins/${encodeURIComponent(key)}${query.size === 0 ? '' : `?${query}`}`;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected a whole number of at least 1');
  return Number(text);
}
