import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { AppError, messageOf } from '../util/app-error.ts';

const DEFAULT_ADMIN = 'http://127.0.0.1:9003';
/** Longest wait for one answer, in milliseconds. */
const ANSWER_MS = 30_000;

/** Adds the flags of commands that talk to a running service. */
export function addAdminFlags(command: Command): Command {
  return command
    .addOption(new Option('--admin <url>', 'admin API of the service').default(DEFAULT_ADMIN))
    .addOption(new Option('--admin-key-file <file>', 'file with the bearer key of the admin API'))
    .addOption(new Option('--json', 'print the answer as JSON'));
}

/** Tells an answer of the admin API from the JSON of something else that listens there. */
const MEMBERS = {
  workers: Array.isArray,
  id: isText,
  worker_id: isText,
  pins: Array.isArray,
  legs: Array.isArray,
  key: isText,
} as const satisfies Record<string, (value: unknown) => boolean>;
type AnswerMember = keyof typeof MEMBERS;

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Client of the admin API of one service (interface 9). */
export class AdminClient {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;

  /** @throws AppError when the URL or the key file cannot be used */
  constructor(admin: string, keyFile: string | undefined) {
    this.#base = baseUrl(admin);
    this.#headers = keyFile === undefined ? {} : { authorization: `Bearer ${readKey(keyFile)}` };
  }

  /**
   * The JSON that the service answers. `member` is what each such answer of the admin API has.
   *
   * @throws AppError `admin_unreachable`, or `admin_refused` with the message of its error envelope
   */
  async ask(method: string, path: string, member: AnswerMember, body?: unknown): Promise<unknown> {
    const url = new URL(path, this.#base);
    const init: RequestInit = { method, headers: this.#headers, signal: AbortSignal.timeout(ANSWER_MS) };
    if (body !== undefined) {
      init.headers = { ...this.#headers, 'content-type': 'application/json' };
      init.body = JSON.stringify(body);
    }
    let status: number;
    let text: string;
    try {
      const response = await fetch(url, init);
      status = response.status;
      text = await response.text();
    } catch (error) {
      const hint = 'is the service running there? (--admin URL names another)';
      throw new AppError('admin_unreachable', `no answer from ${this.#base.origin}: ${causeOf(error)}; ${hint}`, {
        cause: error,
      });
    }
    const data = parse(text);
    if (status >= 200 && status < 300 && data !== undefined) {
      if (MEMBERS[member](field(data, member))) return data;
      const message = `${this.#base.origin} does not answer as the admin API does: no ${member}`;
      throw new AppError('admin_refused', message);
    }
    throw new AppError('admin_refused', refusal(status, data, this.#base.origin));
  }
}

function baseUrl(admin: string): URL {
  const url = /^https?:\/\//.test(admin) && URL.canParse(admin) ? new URL(admin) : undefined;
  if (url !== undefined) return url;
  throw new AppError('invalid_usage', `--admin ${admin}: expected an http:// or https:// URL, as ${DEFAULT_ADMIN}`);
}

function readKey(file: string): string {
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (/^[!-~]+$/.test(key)) return key;
  } catch (error) {
    throw new AppError('unreadable_file', `--admin-key-file ${file}: cannot be read: ${messageOf(error)}`);
  }
  throw new AppError('invalid_usage', `--admin-key-file ${file}: expected one key of visible ASCII characters`);
}

/** `fetch` hides why it failed in the cause, and for a name with several addresses in the parts of that. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error);
  if (error.name === 'TimeoutError') return `nothing within ${ANSWER_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof AggregateError) return messageOf(cause.errors[0] ?? cause);
  return messageOf(cause ?? error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refusal(status: number, data: unknown, origin: string): string {
  const error = field(data, 'error');
  const message = field(error, 'message');
  const code = field(error, 'code');
  if (typeof message === 'string') return typeof code === 'string' ? `${message} (${status} ${code})` : message;
  return `${origin} answered with status ${status} and not as the admin API does`;
}

/** Member of an object, undefined when there is none. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
