/** How replicas tell each other of their counts: JSON arrays of numbers, since there are many of them. */
import type { LoadTotals, WorkerCounts } from './load-state.ts';
import { isCount, isInteger, isReplicaName, isShortText, parseArray } from './wire.ts';

export type LoadMessage =
  /** What changed; `seq` counts these messages of their sender without a gap. */
  | {
      readonly kind: 'changes';
      readonly from: string;
      readonly seq: number;
      readonly workers: readonly WorkerCounts[];
    }
  /** Once a second. `seq` is that of the last changes, `totals` what they come to. */
  | {
      readonly kind: 'beat';
      readonly from: string;
      readonly seq: number;
      /** Access-log streams that are open at the sender. */
      readonly logStreams: number;
      readonly totals: LoadTotals;
    }
  /** Everything up to and with the changes `seq`, in `parts` messages that follow each other; `part` counts from 0. */
  | {
      readonly kind: 'state';
      readonly from: string;
      readonly seq: number;
      readonly part: number;
      readonly parts: number;
      readonly workers: readonly WorkerCounts[];
    }
  /** `from` wants the state of `of`, null: of everyone. */
  | { readonly kind: 'ask'; readonly from: string; readonly of: string | null }
  /** The sender is going; what it counted counts no more. */
  | { readonly kind: 'bye'; readonly from: string };

/** Numbers of one message that is sent: about 64 KiB. */
const MAX_NUMBERS = 8192;
/** What a worker without keys counts as. */
const WORKER_NUMBERS = 16;
const MAX_PARTS = 4096;
const MAX_WORKER_ID = 2048;

export function encodeLoadMessage(message: LoadMessage): string {
  const { kind, from } = message;
  switch (kind) {
    case 'changes':
      return JSON.stringify(['c', from, message.seq, message.workers.map(workerRow)]);
    case 'beat': {
      const { requests, distinctKeys, hashes, keyRequests } = message.totals;
      return JSON.stringify(['b', from, message.seq, message.logStreams, requests, distinctKeys, hashes, keyRequests]);
    }
    case 'state':
      return JSON.stringify(['s', from, message.seq, message.part, message.parts, message.workers.map(workerRow)]);
    case 'ask':
      return JSON.stringify(['a', from, message.of]);
    case 'bye':
      return JSON.stringify(['x', from]);
  }
}

/** Undefined for anything that `encodeLoadMessage` does not make. */
export function decodeLoadMessage(text: string): LoadMessage | undefined {
  const row = parseArray(text);
  if (row === undefined) return undefined;
  const [kind, from, ...rest] = row;
  if (!isReplicaName(from)) return undefined;
  switch (kind) {
    case 'c': {
      const [seq, rows] = rest;
      const workers = workersIn(rows);
      return isCount(seq) && workers !== undefined ? { kind: 'changes', from, seq, workers } : undefined;
    }
    case 'b': {
      const [seq, logStreams, requests, distinctKeys, hashes, keyRequests] = rest;
      if (!isCount(seq) || !isCount(logStreams)) return undefined;
      if (!isCount(requests) || !isCount(distinctKeys) || !isCount(hashes) || !isCount(keyRequests)) return undefined;
      return { kind: 'beat', from, seq, logStreams, totals: { requests, distinctKeys, hashes, keyRequests } };
    }
    case 's': {
      const [seq, part, parts, rows] = rest;
      const workers = workersIn(rows);
      if (!isCount(seq) || !isCount(part) || !isCount(parts) || workers === undefined) return undefined;
      if (part >= parts || parts > MAX_PARTS) return undefined;
      return { kind: 'state', from, seq, part, parts, workers };
    }
    case 'a': {
      const [of] = rest;
      return of === null || isReplicaName(of) ? { kind: 'ask', from, of } : undefined;
    }
    case 'x':
      return { kind: 'bye', from };
    default:
      return undefined;
  }
}

/** The same counts, in lists that fit into a message each; at least one list. */
export function splitCounts(workers: readonly WorkerCounts[], maxNumbers = MAX_NUMBERS): WorkerCounts[][] {
  const lists: WorkerCounts[][] = [[]];
  let room = maxNumbers;
  for (const counts of workers) {
    for (let at = 0; at === 0 || at < counts.keys.length; ) {
      if (room <= WORKER_NUMBERS) {
        lists.push([]);
        room = maxNumbers;
      }
      const taken = Math.min(counts.keys.length - at, Math.max(2, (room - WORKER_NUMBERS) & ~1));
      lists.at(-1)?.push({ ...counts, keys: counts.keys.slice(at, at + taken) });
      room -= WORKER_NUMBERS + taken;
      at += Math.max(1, taken);
    }
  }
  return lists;
}

function workerRow({ worker, requests, distinctKeys, keys }: WorkerCounts): unknown[] {
  return [worker, requests, distinctKeys, keys];
}

function workersIn(rows: unknown): WorkerCounts[] | undefined {
  if (!Array.isArray(rows)) return undefined;
  const workers: WorkerCounts[] = [];
  for (const row of rows as unknown[]) {
    if (!Array.isArray(row)) return undefined;
    const [worker, requests, distinctKeys, keys] = row as unknown[];
    if (!isShortText(worker, MAX_WORKER_ID) || !isCount(requests) || !isCount(distinctKeys)) return undefined;
    if (!isPairs(keys)) return undefined;
    workers.push({ worker, requests, distinctKeys, keys });
  }
  return workers;
}

function isPairs(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  return value.every((number, i) => (i % 2 === 0 ? isInteger(number) && (number | 0) === number : isCount(number)));
}
