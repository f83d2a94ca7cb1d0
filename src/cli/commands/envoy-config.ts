import type { Command } from 'commander';
import { readConfigText } from '../../config/config-text.ts';
import type { Loaded } from '../../config/load-settings.ts';
import { ADDRESS_FORM } from '../../envoy/bootstrap/address.ts';
import { BOOTSTRAP_MODES } from '../../envoy/bootstrap/options.ts';
import { renderPickerSecret, SECRETS } from '../../envoy/bootstrap/picker-tls.ts';
import { renderBootstrap } from '../../envoy/bootstrap/render-bootstrap.ts';
import { GATEWAY_MODES, type GatewayMode } from '../../envoy/gateways/options.ts';
import { renderGateway } from '../../envoy/gateways/render-gateway.ts';
import { AppError } from '../../util/app-error.ts';
import { bootstrapOptions, type EnvoyFlags } from '../bootstrap-options.ts';
import type { CliCommand } from '../command.ts';
import { gatewayOptions } from '../gateway-options.ts';
import type { PickerTlsFlags } from '../picker-tls-options.ts';
import { addSettingFlags, settingsOf } from '../setting-flags.ts';

/** Kinds of configuration that can be printed (interface 8). */
const MODES: readonly string[] = [...BOOTSTRAP_MODES, ...GATEWAY_MODES];

interface Options extends PickerTlsFlags {
  readonly mode: string;
  readonly listen: string;
  readonly picker?: readonly string[];
  readonly fail?: string;
  readonly adminListen?: string;
  readonly staticWorkers?: boolean;
  readonly envoyVersion: string;
  readonly authzBody: string;
  readonly pickerSecret?: string;
  readonly namespace: string;
  readonly image: string;
  readonly gateway?: string;
  readonly gatewaySelector: string;
  readonly workerService: string;
}

/** `smg-envoy envoy-config`: prints a whole Envoy bootstrap (interface 8). */
export const envoyConfigCommand: CliCommand = {
  register(program, run) {
    const command = addSettingFlags(
      program
        .command('envoy-config')
        .description('print an Envoy configuration or Kubernetes manifests for these flags'),
    );
    command
      .option('--mode <mode>', `kind of configuration: ${MODES.join(', ')}`, 'ext-proc')
      .option('--listen <ip:port>', 'where clients connect', '127.0.0.1:8080')
      .option(
        '--picker <address...>',
        `replicas of the service, ${ADDRESS_FORM} (default: --grpc-host and --grpc-port)`,
      )
      .option(
        '--fail <open|closed>',
        'while the service is away: place requests without it, or answer 503 (default: open; closed in full duplex)',
      )
      .option('--admin-listen <ip:port>', "Envoy's admin interface (default: none)")
      .option('--authz-body <auto|on|off>', 'with ext-authz: send request bodies to the service', 'auto')
      .option('--static-workers', 'write the workers into the file instead of asking the service for them')
      .option('--envoy-version <version>', 'the Envoy that will read it', '1.38')
      .option('--tls', 'call the service over TLS; files of the options that follow are at Envoy')
      .option('--picker-ca-path <file>', "authority of the service's certificate (default: those of the system)")
      .option('--picker-name <name>', 'what the certificate is for (default: the hosts of --picker)')
      .option('--picker-client-cert-path <file>', 'certificate that Envoy shows to the service')
      .option('--picker-client-key-path <file>', 'its private key')
      .option('--picker-secrets-dir <folder>', 'where files of --picker-secret will be: Envoy then follows the files')
      .option('--picker-secret <client|ca>', 'print smg-envoy-client.yaml or smg-envoy-ca.yaml of that folder instead')
      .option('--namespace <name>', 'for gateways: where the service runs', 'smg-envoy')
      .option('--image <image>', 'for gateways: the image of the service', 'smg-envoy:local')
      .option('--gateway <namespace/name>', 'for gateways: the Gateway that requests come in by')
      .option('--gateway-selector <key=value>', "for istio: labels of the gateway's pods", 'istio=ingressgateway')
      .option('--worker-service <name.namespace:port>', 'for gateways: the Service of the workers', 'workers:8000')
      .action(
        run(async (shell) => {
          const loaded = settingsOf(command, shell.env);
          const options: Options = command.opts();
          const flags: EnvoyFlags = {
            ...options,
            picker: options.picker ?? [],
            adminListen: options.adminListen ?? null,
            fail: options.fail ?? null,
            staticWorkers: options.staticWorkers === true,
          };
          shell.out(render(flags, loaded, options, command));
          return 0;
        }),
      );
  },
};

function render(flags: EnvoyFlags, loaded: Loaded, options: Options, command: Command): string {
  if (!MODES.includes(flags.mode)) refuse(`--mode ${flags.mode}: expected one of ${MODES.join(', ')}`);
  refuseOfOtherModes(flags.mode, command);
  const mode = GATEWAY_MODES.find((one) => one === flags.mode);
  if (mode === undefined) {
    const made = bootstrapOptions(flags, loaded);
    if (options.pickerSecret === undefined) return renderBootstrap(made);
    const kind = SECRETS.find((one) => one === options.pickerSecret);
    if (kind === undefined) return refuse(`--picker-secret ${options.pickerSecret}: expected client or ca`);
    const text = made.pickerTls === null ? null : renderPickerSecret(kind, made.pickerTls);
    return text ?? refuse(`--picker-secret ${kind}: needs --tls with the files that it is about`);
  }
  refuseOfBootstrap(mode, command);
  const envoy = bootstrapOptions({ ...flags, mode: 'ext-proc' }, loaded);
  return renderGateway(
    gatewayOptions(mode, { ...options, gateway: options.gateway ?? null }, loaded, envoy, readConfigText),
  );
}

/** Options of some modes only. One that says nothing in this mode was meant for another. */
function refuseOfOtherModes(mode: string, command: Command): void {
  for (const [key, flag, modes] of [
    ['authzBody', '--authz-body', ['ext-authz']],
    ['gatewaySelector', '--gateway-selector', ['istio']],
    ['namespace', '--namespace', GATEWAY_MODES],
    ['image', '--image', GATEWAY_MODES],
    ['gateway', '--gateway', GATEWAY_MODES],
    ['workerService', '--worker-service', GATEWAY_MODES],
  ] as const) {
    if (isGiven(command, key) && !modes.some((one) => one === mode)) {
      refuse(`${flag}: only with --mode ${modes.join(', ')}`);
    }
  }
}

/** A gateway has listeners, clusters and an admin interface of its own. */
function refuseOfBootstrap(mode: GatewayMode, command: Command): void {
  for (const [key, flag] of [
    ['listen', '--listen'],
    ['picker', '--picker'],
    ['adminListen', '--admin-listen'],
    ['staticWorkers', '--static-workers'],
    ['tls', '--tls'],
    ['pickerSecret', '--picker-secret'],
  ] as const) {
    if (isGiven(command, key)) refuse(`${flag}: not with --mode ${mode}, where the gateway decides about it`);
  }
}

function isGiven(command: Command, key: string): boolean {
  return command.getOptionValueSource(key) === 'cli';
}

function refuse(message: string): never {
  throw new AppError('invalid_configuration', message);
}
