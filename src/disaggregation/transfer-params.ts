/** How the two legs of one request find each other's KV cache: `kv_transfer_params` by connector (policies 4.4). */

/** Label values of `smg_pd_kv_connector_mode_total`. */
export const CONNECTOR_MODES = ['mooncake', 'nixl', 'passthrough'] as const;
/** `passthrough`: the engine knows itself what to say, and the answer of the prefill is handed on. */
export type ConnectorMode = (typeof CONNECTOR_MODES)[number];

/**
 * By the name of the prefill worker's connector, null where it is not known. Others of a family take no such parameters: a
 * store of Mooncake is none to fetch from.
 */
export function connectorModeOf(connector: string | null): ConnectorMode {
  switch (connector?.toLowerCase()) {
    case 'nixl':
    case 'nixlconnector':
      return 'nixl';
    case 'mooncake':
    case 'mooncakeconnector':
      return 'mooncake';
    default:
      return 'passthrough';
  }
}

/** The connector fetches from whomever the parameters of a request name. */
export function fetchesByWord(connector: string | null): boolean {
  const name = connector?.toLowerCase() ?? '';
  return name.includes('nixl') || name.includes('mooncake');
}

/** Where the prefill worker keeps what it computed. */
export interface PrefillSource {
  /** Host name or bracketed IPv6 address of its URL. */
  readonly host: string;
  readonly bootstrapPort: number | null;
  /** `kv_engine_id`; null where it was not declared. */
  readonly engineId: string | null;
  /** Data-parallel rank; null for none. */
  readonly rank: number | null;
}

const DEFAULT_BOOTSTRAP_PORT = 8998;

/** Value for the prefill leg; null where nothing is added. */
export function prefillParams(mode: ConnectorMode, transferId: string, { engineId }: PrefillSource): string | null {
  if (mode === 'passthrough' || (mode === 'mooncake' && engineId === null)) return null;
  const id = mode === 'mooncake' ? `,"transfer_id":${JSON.stringify(transferId)}` : '';
  return `{"do_remote_decode":true,"do_remote_prefill":false${id}}`;
}

/**
 * Value for the decode leg; null where nothing is added, so that the decode worker computes the prompt itself.
 *
 * @param returned what the prefill answered with, as JSON; null when it answered with none
 */
export function decodeParams(
  mode: ConnectorMode,
  transferId: string,
  source: PrefillSource,
  returned: string | null,
): string | null {
  if (mode !== 'mooncake') return returned;
  const { host, bootstrapPort, engineId, rank } = source;
  // Nobody could be asked for the cache.
  if (engineId === null) return null;
  return JSON.stringify({
    do_remote_decode: false,
    do_remote_prefill: true,
    transfer_id: transferId,
    remote_engine_id: rank === null ? engineId : `${engineId}_dp${rank}`,
    remote_bootstrap_addr: `http://${host}:${bootstrapPort ?? DEFAULT_BOOTSTRAP_PORT}`,
  });
}
