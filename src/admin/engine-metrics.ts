import type { Labels, SeriesOf } from '../telemetry/definition.ts';
import type { Gauge } from '../telemetry/instruments.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RankLoad, TransferLoad } from '../workers/engine-load.ts';
import { NO_MODEL } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';

/** Series without a report that are still told as -1, by gauge; older ones are forgotten. */
const MAX_SILENT = 1024;
const SILENT = -1;

/**
 * Lets the gauges of the engines be read from the last reports at each scrape. A series that was told once is -1 while no
 * report is in force for it: its worker is removed, not ready, or silent for too long (policies 8.2).
 *
 * @param clock milliseconds, monotonic, as in the reports
 */
export function bindEngineMetrics(metrics: Metrics, fleet: SnapshotSource, clock: () => number): void {
  const engine = (gauge: Metrics['engineRunning'], read: (rank: RankLoad) => number): void =>
    bind(gauge, fleet, (worker, tell) => {
      for (const rank of worker.engine.recent?.ranks ?? []) {
        tell([worker.id, worker.models[0] ?? NO_MODEL, String(rank.rank)], read(rank));
      }
    });
  const transfer = (gauge: Metrics['enginePdLatency'], read: (load: TransferLoad) => number | null): void =>
    bind(gauge, fleet, (worker, tell) => {
      for (const rank of worker.engine.recent?.ranks ?? []) {
        const value = rank.transfer === null ? null : read(rank.transfer);
        if (rank.transfer !== null && value !== null) {
          tell([worker.id, rank.transfer.role, String(rank.rank)], value);
        }
      }
    });

  engine(metrics.engineRunning, (rank) => rank.runningRequests);
  engine(metrics.engineWaiting, (rank) => rank.waitingRequests);
  engine(metrics.engineTokenUsage, (rank) => rank.tokenUsage);
  engine(metrics.engineGenThroughput, (rank) => rank.genThroughput);
  engine(metrics.engineCacheHitRate, (rank) => rank.cacheHitRate);
  transfer(metrics.enginePdLatency, (load) => load.kvLatencyMs);
  transfer(metrics.enginePdSpeed, (load) => load.kvSpeedGbPerSecond);
  transfer(metrics.enginePdPrefillQueue, (load) => load.prefillQueueRequests);
  transfer(metrics.enginePdDecodeQueue, (load) => load.decodeQueueRequests);
  bind(metrics.loadReportAge, fleet, ({ id, engine: { recent } }, tell) => {
    if (recent !== null) tell([id], (clock() - recent.at) / 1000);
  });
}

function bind<L extends Labels>(
  gauge: Gauge<L>,
  fleet: SnapshotSource,
  visit: (worker: Worker, tell: (series: SeriesOf<L>, value: number) => void) => void,
): void {
  const silent = new Map<string, SeriesOf<L>>();
  gauge.onScrape(() => {
    const told = new Set<string>();
    gauge.clear();
    const tell = (series: SeriesOf<L>, value: number): void => {
      const name = series.join(' ');
      told.add(name);
      silent.set(name, series);
      gauge.cell(...series).value = value;
    };
    for (const worker of fleet.current.workers) visit(worker, tell);
    for (const [name, series] of silent) {
      if (told.has(name)) continue;
      if (silent.size - told.size > MAX_SILENT) silent.delete(name);
      else gauge.cell(...series).value = SILENT;
    }
  });
}
