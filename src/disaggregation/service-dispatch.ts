/** `--pd-dispatch service`: this service sends the prefill itself (decisions 27, envoy 12). */
import type { Handoff, PrefillDispatch, PrefillFailure, PrefillOrder, PrefillRun } from '../picker/prefill-dispatch.ts';
import { type JsonScan, scanObject } from '../request/json-scanner.ts';
import type { PrefillFailureReason, PrefillPhase } from '../telemetry/own-metrics.ts';
import { type Outcome, outcomeOf } from '../workers/breaker.ts';
import type { Worker } from '../workers/worker.ts';
import { bootstrapBodies } from './bootstrap-bodies.ts';
import { noRoomIn, prefillFailure, UNREACHABLE } from './failures.ts';
import { KV_TRANSFER_PARAMS, MEMBERS } from './members.ts';
import type { PrefillAnswer, PrefillCall, PrefillClient, RunningCall } from './prefill-client.ts';
import { prefillHeaders } from './prefill-request.ts';
import type { FindPrefillWorker, PrefillWorker } from './prefill-worker.ts';
import { drawRoom, drawTransferId, type FillRandom } from './rooms.ts';
import { decodeBody, prefillBody, wantsSeveral } from './sequential-bodies.ts';
import { type ConnectorMode, connectorModeOf, decodeParams, fetchesByWord, prefillParams } from './transfer-params.ts';
import { upstreamMessage } from './upstream-message.ts';

/** Told of what happens. */
export interface PrefillObserver {
  /** A sequential request, with a prefill or not, is for this connector (`smg_pd_kv_connector_mode_total`). */
  connector(mode: ConnectorMode): void;
  /** A prefill named no cache though it should have, or none was sent (`smg_pd_kv_transfer_failures_total`). */
  noTransfer(): void;
  /** A body could not get its bootstrap fields (`smg_pd_bootstrap_failures_total`). */
  noBootstrap(): void;
  /**
   * A prefill went well (`smg_pd_prefill_duration_seconds`).
   *
   * @param model that the request is for
   */
  ended(worker: Worker, model: string, seconds: number): void;
  /** It failed (`smg_envoy_prefill_failures_total`). */
  failed(phase: PrefillPhase, reason: PrefillFailureReason): void;
}

export interface ServiceDispatchOptions {
  readonly client: PrefillClient;
  readonly find: FindPrefillWorker;
  readonly observer: PrefillObserver;
  /** Longest wait of a request for its prefill, in milliseconds. */
  readonly timeoutMs: number;
  /** Longest life of a prefill beside its decode, in milliseconds. Mostly it ends with its request. */
  readonly requestTimeoutMs: number;
  readonly fill: FillRandom;
  /** Milliseconds since the epoch. */
  readonly wallNow: () => number;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

export class ServiceDispatch implements PrefillDispatch {
  readonly #options: ServiceDispatchOptions;

  constructor(options: ServiceDispatchOptions) {
    this.#options = options;
  }

  start(order: PrefillOrder): Handoff | PrefillFailure | PrefillRun {
    const worker = this.#options.find(order.prefill);
    if (worker === undefined || worker.origin === '') return prefillFailure(502, 'prefill_request_failed', UNREACHABLE);
    const scan = order.body === null ? null : scanObject(order.body.bytes, MEMBERS);
    return worker.order === 'parallel' ? this.#parallel(order, worker, scan) : this.#sequential(order, worker, scan);
  }

  #sequential(order: PrefillOrder, worker: PrefillWorker, scan: JsonScan | null): Handoff | PrefillRun {
    const { endpoint, model, decode } = order;
    const { observer } = this.#options;
    const decodeConnector = this.#options.find(decode)?.connector ?? null;
    const mode = connectorModeOf(worker.connector);
    // Of a connector that is not known they may be settings of its own.
    const keepsClients = !fetchesByWord(worker.connector) && !fetchesByWord(decodeConnector);
    const decodeFields = { model, rank: decode.rank, keepsClients };
    // Where the decode leg cannot be told of it, a prefill is of no use: the decode worker computes the prompt itself.
    if (scan === null || scan.bytes.length > order.mostBodyBytes) return this.#alone();
    observer.connector(mode);
    if (wantsSeveral(scan)) return handoff(decodeBody(scan, { ...decodeFields, kvTransferParams: null }));

    const { fill, wallNow, timeoutMs } = this.#options;
    const transferId = mode === 'mooncake' ? drawTransferId(fill, wallNow()) : '';
    const kvTransferParams = prefillParams(mode, transferId, worker);
    const fields = { model, rank: order.prefill.rank, kvTransferParams, keepsClients };
    const body = prefillBody(scan, endpoint, fields);
    const running = this.#send(order, worker, { body, timeoutMs, wantsAnswer: true }, nothing);
    const taken = running.answer.then((answer): Handoff | PrefillFailure => {
      if (!isGood(answer)) return this.#failed('before_decode', answer);
      const params = decodeParams(mode, transferId, worker, returnedParams(answer.body));
      const body = decodeBody(scan, { ...decodeFields, kvTransferParams: params });
      if (body !== null && body.length > order.mostBodyBytes) return this.#alone();
      if (params === null && mode === 'nixl') observer.noTransfer();
      return handoff(body);
    });
    return { timeoutMs, handoff: taken, done: running.answer.then(outcomeOfAnswer), cancel: () => running.cancel() };
  }

  #alone(): Handoff {
    this.#options.observer.noTransfer();
    return handoff(null);
  }

  /** Both legs at once: the decode leg may begin when the prefill worker is connected and gets the request. */
  #parallel(order: PrefillOrder, worker: PrefillWorker, scan: JsonScan | null): PrefillFailure | PrefillRun {
    const { fill, timeoutMs, requestTimeoutMs } = this.#options;
    if (scan === null) return this.#noRoom(order);
    const { endpoint, model, prefill, decode } = order;
    const fields = {
      host: worker.host,
      port: worker.bootstrapPort,
      model,
      prefillRank: prefill.rank,
      decodeRank: decode.rank,
    };
    const bodies = bootstrapBodies(scan, endpoint, fields, () => drawRoom(fill));
    if (bodies.decode.length > order.mostBodyBytes) return this.#noRoom(order);
    const ready = handoff(bodies.decode);
    let begun = false;
    let give: (taken: Handoff | PrefillFailure) => void = nothing;
    const taken = new Promise<Handoff | PrefillFailure>((resolve) => {
      give = resolve;
    });
    const sending = { body: bodies.prefill, timeoutMs: requestTimeoutMs, wantsAnswer: false };
    const running = this.#send(order, worker, sending, () => {
      begun = true;
      give(ready);
    });
    const done = running.answer.then((answer) => {
      give(isGood(answer) ? ready : this.#failed(begun ? 'beside_decode' : 'before_decode', answer));
      return outcomeOfAnswer(answer);
    });
    return { timeoutMs, handoff: taken, done, cancel: () => running.cancel() };
  }

  #noRoom(order: PrefillOrder): PrefillFailure {
    this.#options.observer.noBootstrap();
    return noRoomIn(order);
  }

  #failed(phase: PrefillPhase, answer: PrefillAnswer): PrefillFailure {
    const reason = reasonOf(answer);
    if (reason !== null) this.#options.observer.failed(phase, reason);
    return failureOf(answer);
  }

  #send(order: PrefillOrder, worker: PrefillWorker, sending: Sending, onSent: () => void): RunningCall {
    const { client, observer, clock } = this.#options;
    const startedAt = clock();
    const headers = prefillHeaders(order, worker);
    const running = client.send({ origin: worker.origin, path: order.head.path, headers, ...sending }, onSent);
    const answer = running.answer.then((given) => {
      if (isGood(given)) observer.ended(order.prefill, order.modelLabel, (clock() - startedAt) / 1000);
      return given;
    });
    return { answer, cancel: running.cancel };
  }
}

type Sending = Pick<PrefillCall, 'body' | 'timeoutMs' | 'wantsAnswer'>;

function handoff(body: Buffer | null): Handoff {
  return { kind: 'handoff', body, leftTo: null };
}

function isGood(answer: PrefillAnswer): answer is PrefillAnswer & { kind: 'answer' } {
  return answer.kind === 'answer' && answer.status >= 200 && answer.status < 300;
}

/** Null for what is no failure of a prefill. */
function reasonOf(answer: PrefillAnswer): PrefillFailureReason | null {
  switch (answer.kind) {
    case 'answer':
      return 'status';
    case 'failed':
      return 'connection';
    case 'timeout':
      return 'timeout';
    case 'cancelled':
      return null;
  }
}

/** Codes and statuses as the real SMG gives them; its texts show addresses, which clients may not see. */
function failureOf(answer: PrefillAnswer): PrefillFailure {
  if (answer.kind === 'answer') {
    const { status, body } = answer;
    const shown = status >= 400 && status < 600 ? status : 502;
    const message = upstreamMessage(body) ?? `The prefill worker answered with status ${status}`;
    return prefillFailure(shown, 'prefill_upstream_error', message);
  }
  if (answer.kind === 'timeout') {
    return prefillFailure(504, 'prefill_request_failed', 'The prefill worker did not answer in time');
  }
  return prefillFailure(502, 'prefill_request_failed', UNREACHABLE);
}

/** `kv_transfer_params` of a prefill's answer as it stands there, null when there are none. */
function returnedParams(body: Buffer): string | null {
  const scan = scanObject(body, MEMBERS);
  const start = scan.starts[KV_TRANSFER_PARAMS] ?? -1;
  if (scan.status !== 'object' || start < 0) return null;
  const value = body.toString('utf8', start, scan.ends[KV_TRANSFER_PARAMS]);
  return value === 'null' ? null : value;
}

/** Null for what says nothing of the worker. */
function outcomeOfAnswer(answer: PrefillAnswer): Outcome | null {
  if (answer.kind === 'cancelled') return null;
  return answer.kind === 'answer' ? outcomeOf(answer.status) : 'failure';
}

function nothing(): void {}
