/** What commands that talk to a running service have in common: its options, and how its answers are shown. */
import { AdminClient } from './admin-client.ts';
import type { Shell } from './command.ts';
import { renderTable } from './table.ts';

/** Values of the flags of `addAdminFlags`. */
export interface AdminOptions {
  readonly admin: string;
  readonly adminKeyFile?: string;
  readonly json?: boolean;
}

/** A worker with many models, or a failing probe with much to tell, would else push all rows out of the window. */
export const LONGEST_CELL = 60;

export function clientOf(options: AdminOptions): AdminClient {
  return new AdminClient(options.admin, options.adminKeyFile);
}

/** The answer as JSON where that is asked for, else in a form for people. */
export function print(shell: Shell, options: AdminOptions, answer: unknown, readable: () => string): void {
  shell.out(options.json === true ? `${JSON.stringify(answer, null, 2)}\n` : readable());
}

/** The members of an answer, one a line. */
export function membersTable(answer: unknown): string {
  const members = Object.entries(typeof answer === 'object' && answer !== null ? answer : {});
  return renderTable(
    ['FIELD', 'VALUE'],
    members.map(([name, value]) => [name, textOf(value)]),
  );
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '-');
}
