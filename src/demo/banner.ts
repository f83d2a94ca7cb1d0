import { CURL } from './curl-lines.ts';
import type { EnvoyRuntime } from './envoy-runtime.ts';

/** What runs where. */
export interface DemoMap {
  /** `http://host:port` of Envoy. */
  readonly url: string;
  readonly envoyAdminUrl: string;
  readonly envoy: EnvoyRuntime;
  readonly configFile: string;
  readonly grpcAddress: string;
  readonly adminUrl: string;
  readonly workers: readonly { readonly name: string; readonly url: string }[];
}

/** The text that the demo starts with: what runs where, and what to try. */
export function banner(map: DemoMap): string {
  const rows: readonly (readonly [string, string])[] = [
    ['Envoy', `${map.url}  (admin ${map.envoyAdminUrl}, ${origin(map.envoy)})`],
    ['', `configuration ${map.configFile}`],
    ['service', `gRPC ${map.grpcAddress}, admin ${map.adminUrl}`],
    ['dashboard', `${map.adminUrl}/`],
    ...map.workers.map(({ name, url }) => [name, url] as const),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const tries = CURL.map(({ why, line }) => `  # ${why}\n  ${line(map.url)}\n`);
  return [
    'smg-envoy demo',
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    '',
    'Try it; the answer header x-smg-routed-worker-id names the worker:',
    '',
    ...tries,
    'Ctrl-C stops all of it.',
    '',
  ].join('\n');
}

function origin(runtime: EnvoyRuntime): string {
  return runtime.kind === 'binary' ? `binary from ${runtime.from}` : `image ${runtime.image} in ${runtime.engine}`;
}
