/** What each way in which Envoy may hand a request over lets the service decide: the table of the docs, and what the tests hold it to. */

const NONE = {
  request_header_mode: 'SEND',
  response_header_mode: 'SKIP',
  request_body_mode: 'NONE',
  response_body_mode: 'NONE',
  request_trailer_mode: 'SKIP',
  response_trailer_mode: 'SKIP',
} as const;

type Processing = Readonly<Record<keyof typeof NONE, string>>;

export interface Mode {
  /** Head of its column. */
  readonly title: string;
  readonly processing: Processing;
  /** The service may ask for the body. */
  readonly override: boolean;
}

export const MODES = {
  none: { title: '`NONE`', processing: NONE, override: false },
  override: { title: '`NONE` with override', processing: NONE, override: true },
  response: {
    title: 'the same with the response phase',
    processing: { ...NONE, response_header_mode: 'SEND', response_trailer_mode: 'SEND' },
    override: true,
  },
  partial: {
    title: '`BUFFERED_PARTIAL`',
    processing: { ...NONE, request_body_mode: 'BUFFERED_PARTIAL' },
    override: false,
  },
  buffered: { title: '`BUFFERED`', processing: { ...NONE, request_body_mode: 'BUFFERED' }, override: false },
  streamed: { title: '`STREAMED`', processing: { ...NONE, request_body_mode: 'STREAMED' }, override: false },
  duplex: {
    title: '`FULL_DUPLEX_STREAMED`',
    processing: { ...NONE, request_body_mode: 'FULL_DUPLEX_STREAMED', request_trailer_mode: 'SEND' },
    override: false,
  },
  both: {
    title: 'the same both ways',
    processing: {
      request_header_mode: 'SEND',
      response_header_mode: 'SEND',
      request_body_mode: 'FULL_DUPLEX_STREAMED',
      response_body_mode: 'FULL_DUPLEX_STREAMED',
      request_trailer_mode: 'SEND',
      response_trailer_mode: 'SEND',
    },
    override: false,
  },
} as const satisfies Record<string, Mode>;

export type ModeName = keyof typeof MODES;
export const MODE_NAMES = Object.keys(MODES) as ModeName[];

export interface Row {
  /** What is asked of a mode. */
  readonly title: string;
  readonly cells: Readonly<Record<ModeName, string>>;
}

type Exceptions = Partial<Record<ModeName, string>>;

function row(title: string, usual: string, exceptions: Exceptions = {}): Row {
  const cells = Object.fromEntries(MODE_NAMES.map((mode) => [mode, exceptions[mode] ?? usual]));
  return { title, cells: cells as Record<ModeName, string> };
}

/** Of a retry: `yes`, or the first worker's 503 for the client. */
export const BY_CHANCE = 'by chance';
const UNREAD: Exceptions = { none: 'no', streamed: 'no' };
const NEVER_ENDS: Exceptions = { partial: 'hangs', buffered: 'hangs' };

/** What the e2e test of the modes finds on a real Envoy. */
export const ROWS = {
  bodyless: row('key in a header, no body', 'yes'),
  header: row('key in a header, body wanted for something else', 'yes', { none: 'no' }),
  rid: row('`rid` in the body', 'yes', UNREAD),
  http2: row('the same by HTTP/2, length not declared', 'yes', UNREAD),
  trailers: row('the same with request trailers, which arrive', 'yes', UNREAD),
  model: row('pool by `model` in the body', 'yes', UNREAD),
  prompt: row('policy that reads the prompt', 'yes', UNREAD),
  edit: row('model alias written into the body', 'yes', UNREAD),
  large: row('body over Envoy’s limit decides by', 'beginning', {
    ...UNREAD,
    buffered: '413',
    duplex: 'whole',
    both: 'whole',
  }),
  retry: row('503 of the first worker: another one gets the same body', 'yes', { streamed: BY_CHANCE }),
  kept: row('and keeps the key', 'yes', { none: 'no', streamed: BY_CHANCE }),
  continue: row('`Expect: 100-continue`', 'yes'),
  hints: row('103 of a worker', 'dropped'),
  websocket: row('WebSocket by key in a header', 'yes', NEVER_ENDS),
  connect: row('CONNECT', '404', NEVER_ENDS),
  extended: row('WebSocket over HTTP/2 (RFC 8441)', 'not offered'),
  unary: row('gRPC call of one message, key in a header', 'yes'),
  grpc: row('gRPC stream that goes on after an answer', 'yes', NEVER_ENDS),
} as const satisfies Record<string, Row>;

export type RowName = keyof typeof ROWS;

/** The table of the documentation. */
export function bodyModesTable(): string {
  const heads = MODE_NAMES.map((mode) => MODES[mode].title);
  const lines = [
    ['', ...heads],
    ['---', ...heads.map(() => '---')],
  ];
  for (const { title, cells } of Object.values(ROWS)) lines.push([title, ...MODE_NAMES.map((mode) => cells[mode])]);
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

export const BODY_MODES_PAGE = 'docs/reference/body-modes.md';
const BEGIN = '<!-- table: node scripts/body-modes.mjs -->\n';
const END = '<!-- end of table -->\n';

/** A page with the table between its marks brought up to date. */
export function withTable(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${BODY_MODES_PAGE} lacks the marks of the table`);
  return `${page.slice(0, begin + BEGIN.length)}\n${bodyModesTable()}\n${page.slice(end)}`;
}
