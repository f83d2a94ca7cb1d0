import { describe, expect, it } from 'vitest';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { Registry } from '../workers/registry.ts';
import { parseWorkerSpec } from '../workers/worker-spec.ts';
import { createFleetReport } from './fleet-report.ts';

const A = 'http://127.0.0.1:8000';

function fleet() {
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLog({ level: 'info', json: true, destination: { write: (line: string) => lines.push(line) } });
  const registry = new Registry({ observer: createFleetReport(metrics, log) });
  const parsed = parseWorkerSpec({ url: A, models: [{ id: 'm' }] });
  if (!parsed.ok) throw new Error('bad spec');
  registry.add(parsed.spec, 'api');
  const probe = (ok: boolean) =>
    registry.probed(
      registry.instance(A)!,
      { at: 0, ok, detail: '', durationMs: 1 },
      { successThreshold: 1, failureThreshold: 2 },
      true,
    );
  const told = () => lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level} ${msg}`);
  return { metrics, registry, probe, told };
}

describe('what happens in the fleet', () => {
  it('is logged on change only', () => {
    const { registry, probe, told } = fleet();

    for (const ok of [true, true, true, false, false, false]) probe(ok);
    registry.remove(A);

    expect(told()).toEqual([
      'info worker added',
      'info worker went from pending to ready',
      'warn worker went from ready to not_ready',
      'info worker removed',
    ]);
  });

  it('counts each probe by its result', () => {
    const { metrics, probe } = fleet();

    for (const ok of [true, false, true]) probe(ok);

    expect(metrics.workerHealthChecks.cell('regular', 'success').value).toBe(2);
    expect(metrics.workerHealthChecks.cell('regular', 'failure').value).toBe(1);
    expect(metrics.workerHealthChecks.cell('prefill', 'failure').value).toBe(0);
  });
});
