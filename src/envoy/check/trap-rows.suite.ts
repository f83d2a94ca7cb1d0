import { expect, it } from 'vitest';
import { type Envoy, flawed, generated, settingsFor } from '../../../test/support/envoy-check.ts';
import { TRAPS } from './all-traps.ts';
import { checkEnvoy } from './check-envoy.ts';

/**
 * What is found (ids, each with the first letter of its level where that is not the trap's own), what an operator did, and
 * the flags of service and generator; then flags that only the judging service has.
 */
export type Row = readonly [
  found: string,
  what: string,
  change: (envoy: Envoy) => unknown,
  flags?: readonly string[],
  judgedBy?: readonly string[],
];

export const STATIC = ['--static-workers', '--worker-urls', 'http://10.0.0.1:8000', 'http://10.0.0.2:8000'];
export const TWO = ['--picker', '127.0.0.1:9002', '127.0.0.1:9004'];
export const AUTHZ = ['--mode', 'ext-authz'];
export const DUPLEX = ['--mode', 'ext-proc-full-duplex'];
export const PD = ['--pd-disaggregation', '--prefill', 'http://10.0.0.1:8000', '--decode', 'http://10.0.0.2:8000'];
export const STRICT = ['--policy', 'consistent_hashing'];
export const HEADERS = ['--policy', 'round_robin'];

export const DESTINATION = 'x-gateway-destination-endpoint';
export const EXT_PROC = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor';
const PER_ROUTE = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute';

/** Options of a route for the ext_proc filter. */
export function perRoute(fields: object, name = 'envoy.filters.http.ext_proc'): object {
  return { [name]: { '@type': PER_ROUTE, ...fields } };
}

export function routeMode(mode: object): object {
  return perRoute({ overrides: { processing_mode: mode } });
}

export const BUFFERED = { request_header_mode: 'SEND', response_header_mode: 'SKIP', request_body_mode: 'BUFFERED' };

/** Each row makes one change in a generated configuration: exactly what it says must be found. Every trap needs a row. */
export function finds(rows: readonly Row[]): void {
  it.for(rows)('%s %s', async ([expected, , change, flags = [], judgedBy = []]) => {
    const yaml = flawed(await base(flags), change);

    expect(found(yaml, [...withoutGenerator(flags), ...judgedBy])).toBe(expected);
  });

  it('every trap has a row', () => {
    const seen = new Set(rows.flatMap(([ids]) => ids.split(' ').map((id) => id.replace(/:.*/, ''))));

    expect(TRAPS.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
  });
}

/** Without the flags of `envoy-config` alone. */
function withoutGenerator(flags: readonly string[]): readonly string[] {
  return flags.filter((flag, index) => !['--mode', '--static-workers'].includes(flag) && flags[index - 1] !== '--mode');
}

const bases = new Map<string, string>();

async function base(flags: readonly string[]): Promise<string> {
  const key = flags.join(' ');
  const known = bases.get(key) ?? (await generated(flags));
  bases.set(key, known);
  return known;
}

function found(yaml: string, flags: readonly string[]): string {
  const { findings, problems } = checkEnvoy([{ name: 'envoy.yaml', text: yaml }], settingsFor(flags));
  expect(problems).toEqual([]);
  const usual = new Map<string, string>(TRAPS.map(({ id, level }) => [id, level]));
  const shown = findings.map(({ trap, level }) => (usual.get(trap) === level ? trap : `${trap}:${level[0]}`));
  return [...new Set(shown)].sort((a, b) => number(a) - number(b)).join(' ');
}

function number(id: string): number {
  return Number.parseInt(id.slice(1), 10);
}
