import type { StoreErrorReason } from '../pins/shared/pin-backend.ts';

export type { StoreErrorReason };

/** A call that the store did not carry out, or whose answer is lost. Its message holds neither keys nor secrets of ours. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;

  constructor(reason: StoreErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Error codes by which an answer of Redis or Valkey begins; Redis 6 writes that of a command inside of a script later on. */
const ANSWERS: readonly (readonly [StoreErrorReason, RegExp])[] = [
  ['auth', /\b(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|\bAUTH <password>|user executing the script/],
  ['readonly', /(^|-)(READONLY|MISCONF|NOREPLICAS)\b/],
  ['full', /(^|-)OOM\b/],
  ['cluster', /^(CLUSTERDOWN|MOVED|ASK|TRYAGAIN|CROSSSLOT|MASTERDOWN)\b|Cluster redirections|slots cache/],
  ['loading', /^LOADING\b/],
  ['script', /^(NOSCRIPT|BUSY|UNKILLABLE)\b|\buser_script\b|running script|unknown command .eval/i],
];

const TLS_CODE = /CERT|SIGNATURE|SELF_SIGNED|^ERR_(SSL|TLS)_|^EPROTO$/;
const SOCKET_CODE = /^(E[A-Z]+|ENOTFOUND|EAI_[A-Z]+)$/;

/** What an error of the client library means. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Several addresses that all failed have a code, and no message.
  const message = error instanceof Error ? error.message || code : String(error);
  const text = withoutSecrets(message);
  for (const [reason, pattern] of ANSWERS) if (pattern.test(message)) return new StoreError(reason, text);
  if (TLS_CODE.test(code)) return new StoreError('tls', text);
  if (code === 'ETIMEDOUT' || /timed? ?out/i.test(message)) return new StoreError('timeout', text);
  if (SOCKET_CODE.test(code) || CLOSED.test(message)) return new StoreError('connection', text);
  return new StoreError('other', text);
}

const CLOSED = /closed|writeable|max retries|aborted|unreachable|failed to connect|ECONN|ENOTFOUND|nodes is available/i;

/** The first line, no URL with credentials, and no arguments of a command, which may be a login. */
function withoutSecrets(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  return line
    .replace(/\/\/\S*@/g, '//***@')
    .replace(/,? with args .*/, '')
    .slice(0, 200);
}
