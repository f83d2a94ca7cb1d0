import { EngineLoadRecord, type LoadReport } from '../../src/workers/engine-load.ts';
import type { Worker } from '../../src/workers/worker.ts';
import { makeWorker, TestLoad } from './fleet.ts';

/** What a test says of an engine; the rest is 0. */
export type Reported = Partial<Omit<LoadReport, 'at' | 'ranks'>>;

export function makeReport(fields: Reported = {}): LoadReport {
  return {
    at: 0,
    ranks: [],
    runningRequests: 0,
    waitingRequests: 0,
    waitingUncachedTokens: 0,
    genThroughput: 0,
    tokenUsage: 0,
    ...fields,
  };
}

/** A worker with an engine of its own, written by `report`; it begins with a report unless `fields` is null. */
export function makeReporting(id: string, fields: Reported | null, requests = 0): Worker {
  const load = new TestLoad();
  load.begin(null, requests);
  const worker = makeWorker(id, { load, engine: new EngineLoadRecord() });
  if (fields !== null) report(worker, fields);
  return worker;
}

/** The engine of a worker made by `makeReporting` reports again. */
export function report(worker: Worker, fields: Reported = {}): void {
  engineOf(worker).received(makeReport(fields));
}

export function engineOf(worker: Worker): EngineLoadRecord {
  if (worker.engine instanceof EngineLoadRecord) return worker.engine;
  throw new Error(`${worker.id} has no engine to write to`);
}
