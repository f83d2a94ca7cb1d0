import { Command } from 'commander';
import { parse, stringify } from 'yaml';
import { checkSettings } from '../../src/cli/check-settings.ts';
import { envoyConfigCommand } from '../../src/cli/commands/envoy-config.ts';
import { runProgram } from '../../src/cli/program.ts';
import { addSettingFlags, settingsOf } from '../../src/cli/setting-flags.ts';
import type { CheckSettings } from '../../src/envoy/check/check-settings.ts';

/** What `smg-envoy envoy-config` prints for these flags. */
export async function generated(flags: readonly string[]): Promise<string> {
  let out = '';
  let err = '';
  const shell = { env: {}, out: (text: string) => (out += text), err: (text: string) => (err += text) };
  if ((await runProgram([envoyConfigCommand], ['envoy-config', ...flags], shell)) !== 0) throw new Error(err);
  return out;
}

/** What `smg-envoy check` judges by with these flags. */
export function settingsFor(flags: readonly string[]): CheckSettings {
  const command = addSettingFlags(new Command('check')).option('--picker <address...>').option('--envoy-version <v>');
  command.parse([...flags], { from: 'user' });
  const { picker = [], envoyVersion = null } = command.opts<{ picker?: string[]; envoyVersion?: string }>();
  return checkSettings({ picker, envoyVersion }, settingsOf(command, {}));
}

// biome-ignore lint/suspicious/noExplicitAny: a configuration is edited as plain data
type Plain = any;

/** The parts of a generated bootstrap that an operator can get wrong. */
export interface Envoy {
  readonly config: Plain;
  readonly listener: Plain;
  readonly manager: Plain;
  readonly filters: Plain[];
  /** Configuration of the filter that asks the service. */
  readonly filter: Plain;
  readonly logger: Plain;
  readonly host: Plain;
  readonly routes: Plain[];
  readonly route: Plain;
  readonly clusters: Plain[];
  readonly workers: Plain;
  readonly workersHttp: Plain;
  readonly override: Plain;
  readonly picker: Plain;
}

const HTTP = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** A generated bootstrap after an operator's change. */
export function flawed(yaml: string, change: (envoy: Envoy) => void): string {
  const config: Plain = parse(yaml);
  const listener = config.static_resources.listeners[0];
  const manager = listener.filter_chains[0].filters[0].typed_config;
  const host = manager.route_config.virtual_hosts[0];
  const clusters: Plain[] = config.static_resources.clusters;
  const workers = clusters.find(({ name }: Plain) => name === 'workers');
  change({
    config,
    listener,
    manager,
    filters: manager.http_filters,
    filter: manager.http_filters[0].typed_config,
    logger: manager.access_log[0],
    host,
    routes: host.routes,
    route: host.routes.at(-1),
    clusters,
    workers,
    workersHttp: workers.typed_extension_protocol_options[HTTP],
    override: workers.load_balancing_policy.policies[0].typed_extension_config.typed_config,
    picker: clusters.find(({ name }: Plain) => name === 'picker'),
  });
  return stringify(config, { aliasDuplicateObjects: false });
}
