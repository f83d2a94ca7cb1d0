import { ENVOY_VERSION } from '../../src/demo/envoy-release.ts';
import { OLDEST_ENVOY } from '../support/oldest-envoy.ts';
import { WAYS, type Way, wayName } from './way.ts';

/** A client as a row of the table. */
export interface Row {
  readonly name: string;
  /** What it does on each way, and what has to come of it. */
  readonly does: string;
  /** Why it cannot take some way. */
  readonly cannot?: { readonly way: (way: Way) => boolean; readonly why: string };
}

const CALL = 'posts a framed health check: status 200, the message, `grpc-status: 0` in the trailers';
const PICKS = 'requests through its ext_proc filter: each picked, each answer stamped, workers in turn';

/** The clients that the suite runs. */
export const CLIENTS = {
  envoy: { name: `Envoy ${ENVOY_VERSION}`, does: PICKS },
  oldestEnvoy: { name: `Envoy ${OLDEST_ENVOY}`, does: PICKS },
  grpcJs: { name: '@grpc/grpc-js', does: 'a health check, and an ext_proc stream that gets a pick' },
  grpcurl: { name: 'grpcurl', does: 'lists the services and asks for health, both by reflection' },
  h2load: {
    name: 'h2load',
    does: '2,000 health checks, 64 at a time on 4 connections: all succeed, each with its message',
  },
  nghttp: {
    name: 'nghttp',
    does: CALL,
    cannot: { way: ({ socket }: Way) => socket === 'Unix socket', why: 'it takes URLs alone, which name no socket' },
  },
  curl: { name: 'curl', does: CALL },
  nodeHttp2: { name: 'node:http2', does: CALL },
} satisfies Record<string, Row>;

export type ClientName = keyof typeof CLIENTS;

/** Why a client cannot take a way; null when it can. */
export function whyNot({ cannot }: Row, way: Way): string | null {
  return cannot?.way(way) === true ? cannot.why : null;
}

/** The page that shows the table; `node scripts/interop.mjs` writes it. */
export const INTEROP_PAGE = 'docs/reference/interoperability.md';

const BEGIN = '<!-- made by scripts/interop.mjs -->\n\n';

/** The page with the table of this file behind its mark. */
export function withTable(page: string): string {
  const at = page.indexOf(BEGIN);
  if (at === -1) throw new Error(`${INTEROP_PAGE} has no mark`);
  return page.slice(0, at) + BEGIN + table();
}

function table(): string {
  const rows: readonly Row[] = Object.values(CLIENTS);
  const head = ['client', ...WAYS.map(wayName), 'what it does'];
  const cells = rows.map((row) => [row.name, ...WAYS.map((way) => cellOf(row, way)), row.does]);
  const lines = [head, head.map(() => '---'), ...cells];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

function cellOf(row: Row, way: Way): string {
  const reason = whyNot(row, way);
  return reason === null ? 'yes' : `no: ${reason}`;
}
