import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { AppError, messageOf } from '../../util/app-error.ts';
import { type AdminOptions, clientOf, print } from '../admin-answer.ts';
import { addAdminFlags } from '../admin-client.ts';
import type { CliCommand } from '../command.ts';
import { type ExplainAnswer, explainText } from '../explain-text.ts';

interface ExplainOptions extends AdminOptions {
  readonly request: string;
  readonly path: string;
  readonly header: Headers;
  readonly body?: string;
}

/** Values by name, as the admin API takes them. */
type Headers = Readonly<Record<string, readonly string[]>>;

/** `smg-envoy explain`: a dry run of a decision (interface 2 and 9). */
export const explainCommand: CliCommand = {
  register(program, run) {
    const command = addAdminFlags(
      program.command('explain').description('which worker would get a request, and why; changes nothing'),
    )
      .addOption(new Option('-X, --request <method>', 'its method').default('POST'))
      .addOption(new Option('--path <path>', 'its path, with the query').default('/v1/chat/completions'))
      .option('-H, --header <name: value>', 'a header of it; may be given more than once', header, {})
      .option('--body <file>', 'file with its body; - for stdin');
    command.action(
      run(async (shell) => {
        const options = command.opts<ExplainOptions>();
        const body = options.body === undefined ? '' : await readBody(options.body);
        const asked = { method: options.request, path: options.path, headers: options.header, body };
        const answer = await clientOf(options).ask('POST', '/explain', 'legs', asked);
        // Of the service that belongs to this program: `ask` has seen that it is an explanation.
        print(shell, options, answer, () => explainText(answer as ExplainAnswer));
        return 0;
      }),
    );
  },
};

function header(text: string, before: Headers): Headers {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('expected "name: value"');
  const name = text.slice(0, colon).trim().toLowerCase();
  return { ...before, [name]: [...(before[name] ?? []), text.slice(colon + 1).trim()] };
}

async function readBody(file: string): Promise<string> {
  const bytes = file === '-' ? await readStdin() : await readNamed(file);
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw new AppError('invalid_usage', `--body ${file}: expected text in UTF-8; nothing else is read of a body`);
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new AppError('unreadable_file', `--body ${file}: cannot be read: ${messageOf(error)}`);
  }
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
