/** From settings to what sends the prefill leg (decisions 27). */
import { randomFillSync } from 'node:crypto';
import type { Settings } from '../config/load-settings.ts';
import { HeaderDispatch } from '../disaggregation/header-dispatch.ts';
import { MirrorDispatch } from '../disaggregation/mirror-dispatch.ts';
import type { FindPrefillWorker } from '../disaggregation/prefill-worker.ts';
import { type PrefillObserver, ServiceDispatch } from '../disaggregation/service-dispatch.ts';
import type { PrefillDispatch } from '../picker/prefill-dispatch.ts';
import { goesInTurn } from '../routing/pairing/compatibility.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { connectorOf } from '../workers/leg-facts.ts';
import type { Registry } from '../workers/registry.ts';
import type { Upstream } from '../workers/upstream.ts';
import { isTls } from '../workers/worker-url.ts';

export interface PrefillDispatchParts {
  readonly registry: Registry;
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

export interface OwnedPrefillDispatch {
  readonly dispatch: PrefillDispatch;
  /** Every prefill that runs now is over. */
  idle(): Promise<void>;
  /** Ends every prefill that runs. */
  close(): Promise<void>;
}

/** Longest wait for a connection to a prefill worker. */
const CONNECT_TIMEOUT_MS = 5000;

export async function createPrefillDispatch(
  { pdDisaggregation, pdDispatch, pdPrefillTimeoutSecs, requestTimeoutSecs }: Settings,
  { registry, metrics, upstream, clock }: PrefillDispatchParts,
): Promise<OwnedPrefillDispatch> {
  const find = findIn(registry);
  const observer = observerOf(metrics);
  const fill = (bytes: Buffer): unknown => randomFillSync(bytes);
  if (!pdDisaggregation || pdDispatch === 'header') return unowned(new HeaderDispatch());
  if (pdDispatch === 'mirror') return unowned(new MirrorDispatch({ find, observer, fill }));
  // Its HTTP client is a tenth of the memory of a service that needs none.
  const { PrefillClient } = await import('../disaggregation/prefill-client.ts');
  const client = new PrefillClient({ connectTimeoutMs: CONNECT_TIMEOUT_MS, upstream });
  const dispatch = new ServiceDispatch({
    client,
    find,
    observer,
    timeoutMs: pdPrefillTimeoutSecs * 1000,
    requestTimeoutMs: requestTimeoutSecs * 1000,
    fill,
    wallNow: Date.now,
    clock,
  });
  return { dispatch, idle: () => client.idle(), close: () => client.close() };
}

function unowned(dispatch: PrefillDispatch): OwnedPrefillDispatch {
  return { dispatch, idle: async () => {}, close: async () => {} };
}

/** What its spec and its engine tell of a worker of a leg. */
export function findIn(registry: Registry): FindPrefillWorker {
  return ({ id, address, rank, legFacts }) => {
    const spec = registry.instance(id)?.spec;
    if (spec === undefined || legFacts === null) return undefined;
    const { url, apiKey } = spec;
    const { bootstrapPort, engineId } = legFacts;
    return {
      origin: address === '' ? '' : `${isTls(url.scheme) ? 'https' : 'http'}://${address}`,
      authority: url.authority,
      host: url.host.includes(':') ? `[${url.host}]` : url.host,
      apiKey,
      // SMG takes every engine but vLLM for one that meets its other leg in a room.
      order: goesInTurn(legFacts) ? 'sequential' : 'parallel',
      connector: connectorOf(spec),
      bootstrapPort,
      engineId,
      rank,
    };
  };
}

function observerOf(metrics: Metrics): PrefillObserver {
  return {
    connector: (mode) => {
      metrics.pdConnectorModes.cell(mode).value += 1;
    },
    noTransfer: () => {
      metrics.pdTransferFailures.cell().value += 1;
    },
    noBootstrap: () => {
      metrics.pdBootstrapFailures.cell().value += 1;
    },
    ended: ({ legFacts }, model, seconds) => {
      metrics.pdPrefillDuration.cell('pd', model, legFacts?.runtime ?? 'unknown').observe(seconds);
    },
    failed: (phase, reason) => {
      metrics.prefillFailures.cell(phase, reason).value += 1;
    },
  };
}
