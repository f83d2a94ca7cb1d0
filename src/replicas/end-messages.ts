/** Access-log entries on their way to the replica that made their picks, as JSON arrays. */
import type { RequestEnd } from '../picker/request-end.ts';
import { isCount, isReplicaName, isShortText, parseArray } from './wire.ts';

/** A picked request still lives. */
export interface RequestAlive {
  readonly pickId: string;
  readonly workerId: string;
  readonly servedAddress: string;
  readonly status: number;
}

export type PassedEntry =
  | { readonly kind: 'end'; readonly end: RequestEnd }
  | { readonly kind: 'alive'; readonly alive: RequestAlive };

const MAX_TEXT = 4096;

export function encodeEntries(from: string, entries: readonly PassedEntry[]): string {
  return JSON.stringify([from, ...entries.map(rowOf)]);
}

/** Undefined for anything that `encodeEntries` does not make. */
export function decodeEntries(text: string): readonly PassedEntry[] | undefined {
  const rows = parseArray(text);
  if (rows === undefined) return undefined;
  const [from, ...rest] = rows;
  if (!isReplicaName(from)) return undefined;
  const entries: PassedEntry[] = [];
  for (const row of rest) {
    const entry = entryOf(row);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

function rowOf(entry: PassedEntry): unknown[] {
  if (entry.kind === 'alive') {
    const { pickId, workerId, servedAddress, status } = entry.alive;
    return ['a', pickId, workerId, servedAddress, status];
  }
  const { end } = entry;
  return [
    ...['e', end.pickId, end.workerId, end.servedAddress, end.status],
    ...[end.rank, end.codeDetails.slice(0, MAX_TEXT), end.attempts, end.durationMs, end.firstByteMs],
    ...[end.retriesUsedUp, end.clientGone, end.attemptsLogged],
  ];
}

function entryOf(row: unknown): PassedEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [kind, pickId, workerId, servedAddress, status, ...rest] = row as unknown[];
  if (!isShortText(pickId, MAX_TEXT) || !isShortText(workerId, MAX_TEXT) || !isShortText(servedAddress, MAX_TEXT)) {
    return undefined;
  }
  if (!isCount(status)) return undefined;
  const alive = { pickId, workerId, servedAddress, status };
  if (kind === 'a') return { kind: 'alive', alive };
  if (kind !== 'e') return undefined;
  const [rank, codeDetails, attempts, durationMs, firstByteMs, retriesUsedUp, clientGone, attemptsLogged] = rest;
  if (rank !== null && !isCount(rank)) return undefined;
  if (!isShortText(codeDetails, MAX_TEXT) || !isCount(attempts)) return undefined;
  if (!isDuration(durationMs) || !isDuration(firstByteMs)) return undefined;
  if (!isFlag(retriesUsedUp) || !isFlag(clientGone) || !isFlag(attemptsLogged)) return undefined;
  const times = { attempts, durationMs, firstByteMs };
  return { kind: 'end', end: { ...alive, ...times, rank, codeDetails, retriesUsedUp, clientGone, attemptsLogged } };
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= -1;
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}
