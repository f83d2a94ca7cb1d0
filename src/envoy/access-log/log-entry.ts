import type { Address } from '../../gen/envoy/config/core/v3/address.ts';
import type { Metadata } from '../../gen/envoy/config/core/v3/base.ts';
import type { AccessLogCommon, HTTPAccessLogEntry } from '../../gen/envoy/data/accesslog/v3/accesslog.ts';
import type { Duration } from '../../gen/google/protobuf/duration.ts';
import type { Timestamp } from '../../gen/google/protobuf/timestamp.ts';
import type { FailedAttempt, RequestEnd } from '../../picker/request-end.ts';
import { canonicalAddress } from '../../workers/address.ts';
import {
  AUTHZ_NAMESPACE,
  DESTINATION_NAMESPACE,
  PICK_ID_KEY,
  PICKER_NAMESPACE,
  PROTOCOL_SERVED_KEY,
  RANK_KEY,
  SERVED_KEY,
  STAMP_HEADER,
  WORKER_TAG,
} from '../names.ts';

/** Pick id of an entry, empty when its request was not picked by us (envoy 1 rule 7). */
export function pickIdOf(common: AccessLogCommon): string {
  return (
    textOf(common.metadata, PICKER_NAMESPACE, PICK_ID_KEY) || textOf(common.metadata, AUTHZ_NAMESPACE, PICK_ID_KEY)
  );
}

/** Data-parallel rank that the body of a picked request named, null for none. */
export function rankOf(common: AccessLogCommon): number | null {
  return rankIn(textOf(common.metadata, PICKER_NAMESPACE, RANK_KEY));
}

/**
 * Worker of the latest attempt, or the engine of its ranks: host metadata that the generated configuration adds as a tag
 * (envoy 9.2).
 */
export function workerIdOf(common: AccessLogCommon): string {
  return common.customTags?.[WORKER_TAG] ?? '';
}

/** Address of the latest attempt: the host Envoy chose, under our name or the protocol's, else the one it reached. */
export function servedAddressOf(common: AccessLogCommon): string {
  const { metadata } = common;
  return (
    textOf(metadata, PICKER_NAMESPACE, SERVED_KEY) ||
    textOf(metadata, DESTINATION_NAMESPACE, PROTOCOL_SERVED_KEY) ||
    socketAddress(common.upstreamRemoteAddress)
  );
}

/** What a `DownstreamEnd` entry says about the end of its request (envoy 9.2). */
export function readEnd(
  pickId: string,
  entry: HTTPAccessLogEntry,
  common: AccessLogCommon,
  attemptsLogged: boolean,
): RequestEnd {
  const codeDetails = entry.response?.responseCodeDetails ?? '';
  return {
    pickId,
    workerId: workerIdOf(common),
    servedAddress: servedAddressOf(common),
    rank: rankOf(common),
    status: entry.response?.responseCode ?? 0,
    codeDetails,
    attempts: common.upstreamRequestAttemptCount ?? 0,
    durationMs: durationOf(common),
    firstByteMs: milliseconds(common.timeToFirstUpstreamRxByte, -1),
    retriesUsedUp: common.responseFlags?.upstreamRetryLimitExceeded === true,
    clientGone: clientLeft(common, codeDetails),
    attemptsLogged,
  };
}

/** What an `UpstreamEnd` entry of the router says about its attempt. */
export function readAttempt(entry: HTTPAccessLogEntry, common: AccessLogCommon): FailedAttempt {
  const flags = common.responseFlags;
  return {
    workerId: workerIdOf(common),
    address: socketAddress(common.upstreamRemoteAddress),
    rank: rankIn(afterLast('@', entry.response?.responseHeaders?.[STAMP_HEADER] ?? '')),
    status: entry.response?.responseCode ?? 0,
    broken:
      flags?.upstreamConnectionFailure === true ||
      flags?.upstreamConnectionTermination === true ||
      flags?.upstreamRemoteReset === true ||
      flags?.upstreamProtocolError === true ||
      flags?.upstreamRequestTimeout === true,
  };
}

/** Milliseconds from the end of the request to `wallNow`; undefined when the entry does not say when it began. */
export function lagOf(common: AccessLogCommon, wallNow: number): number | undefined {
  if (common.startTime === undefined) return undefined;
  return Math.max(0, wallNow - (milliseconds(common.startTime, 0) + durationOf(common)));
}

function durationOf(common: AccessLogCommon): number {
  return milliseconds(common.duration ?? common.timeToLastDownstreamTxByte, 0);
}

/** Envoy tells it by flag for a lost connection or stream, and by detail alone when no response had begun. */
function clientLeft(common: AccessLogCommon, codeDetails: string): boolean {
  const flags = common.responseFlags;
  return (
    flags?.downstreamConnectionTermination === true ||
    flags?.downstreamRemoteReset === true ||
    codeDetails.startsWith('downstream_remote_disconnect') ||
    codeDetails === 'http2.remote_reset' ||
    codeDetails === 'http3.remote_reset'
  );
}

function rankIn(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null;
}

/** What follows the last `mark`; empty without one. */
function afterLast(mark: string, text: string): string {
  const at = text.lastIndexOf(mark);
  return at < 0 ? '' : text.slice(at + 1);
}

function textOf(metadata: Metadata | undefined, namespace: string, key: string): string {
  const value: unknown = metadata?.filterMetadata?.[namespace]?.[key];
  return typeof value === 'string' ? value : '';
}

function socketAddress(address: Address | undefined): string {
  if (address?.address?.$case !== 'socketAddress') return '';
  const { address: ip, portSpecifier } = address.address.value;
  if (ip === undefined || portSpecifier?.$case !== 'portValue') return '';
  return canonicalAddress(ip, portSpecifier.value);
}

function milliseconds(time: Duration | Timestamp | undefined, absent: number): number {
  return time === undefined ? absent : Number(time.seconds ?? 0n) * 1000 + (time.nanos ?? 0) / 1e6;
}
