import { html } from 'hono/html';
import type { PinStore } from '../pins/pin-store.ts';
import { STICKY_BRANCHES } from '../routing/decision.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';
import { notReadyReason, type ServiceState } from './readiness.ts';

export interface StatusParts {
  readonly fleet: SnapshotSource;
  readonly pins: Pick<PinStore, 'size'>;
  readonly metrics: Metrics;
  readonly state: () => ServiceState;
  readonly version: string;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

/** A page for people: what the service knows now. It loads nothing and runs no script; `html` escapes every value. */
export async function statusPage({ fleet, pins, metrics, state, version }: StatusParts): Promise<Response> {
  const reason = notReadyReason(fleet, state());
  const { workers } = fleet.current;
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<title>smg-envoy</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
th, td { border-bottom: 1px solid #ccc; padding: .25rem 1rem .25rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<h1>smg-envoy ${version}</h1>
<p>${reason === null ? 'Ready.' : `Not ready: ${reason}.`}
${workers.length} workers, ${pins.size} pinned keys; request ends come from: ${state().endOfRequest}.</p>
<table>
<thead><tr><th>worker</th><th>status</th><th>models</th><th>in flight</th><th>keys in flight</th></tr></thead>
<tbody>${workers.map(workerRow)}</tbody>
</table>
<table>
<thead><tr><th>sticky branch</th><th>decisions</th></tr></thead>
<tbody>${STICKY_BRANCHES.map((branch) => numberRow(branch, metrics.manualBranches.cell(branch).value))}</tbody>
</table>
</body>
</html>
`;
  return new Response(String(page), { headers: HEADERS });
}

function workerRow({ name, url, status, models, load }: Worker) {
  return html`<tr><td title="${url}">${name}</td><td>${status}</td><td>${models.length === 0 ? 'any' : models.join(', ')}</td>
<td class="number">${load.requests}</td><td class="number">${load.distinctKeys}</td></tr>
`;
}

function numberRow(title: string, value: number) {
  return html`<tr><td>${title}</td><td class="number">${value}</td></tr>
`;
}
