import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { HTTP_CODES } from '../util/error-codes.ts';
import { createMetrics, METRICS, renderMetrics } from './metrics.ts';
import { metricsMarkdown } from './metrics-docs.ts';
import { startProcessMetrics } from './process-metrics.ts';

const definitions = Object.values(METRICS);

describe('the metric table', () => {
  it('names every metric once', () => {
    const names = definitions.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(definitions.map((definition) => [definition.name, definition] as const))(
    '%s keeps the rules',
    (name, metric) => {
      expect(name).toMatch(/^smg_[a-z0-9_]+$/);
      expect(name.endsWith('_total')).toBe(metric.type === 'counter');
      expect(metric.type === 'histogram').toBe(metric.buckets !== null);
      if (metric.type === 'histogram') expect(name).toMatch(/_(seconds|ratio)$/);
      expect(metric.help).toMatch(/^[A-Z].*\.$/);
      for (const { name: labelName } of metric.labels) expect(labelName).toMatch(/^[a-z_]+$/);
      const bounds = metric.buckets ?? [];
      expect([...bounds].sort((a, b) => a - b)).toEqual([...bounds]);
    },
  );

  it('is what docs/metrics.md shows', () => {
    expect(readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')).toBe(metricsMarkdown());
  });
});

describe('sticky-sessions 8 names, labels and values', () => {
  const { samples } = parseExposition(renderMetrics(createMetrics()));
  const zeros = (name: string) => samples.filter((sample) => sample.name === name);

  it.each([
    [
      'smg_manual_policy_branch_total',
      'branch',
      ['occupied_hit', 'occupied_miss', 'vacant', 'cap_respill', 'no_routing_id', 'no_healthy_workers'],
    ],
    ['smg_routing_key_source_total', 'source', ['rid', 'header']],
    [
      'smg_consistent_hashing_policy_branch_total',
      'branch',
      ['target_worker_hit', 'target_worker_miss', 'routing_key_hit', 'random_fallback', 'no_healthy_workers'],
    ],
    [
      'smg_prefix_hash_policy_branch_total',
      'branch',
      ['ring_hit', 'load_balance_walk', 'fallback_least_load', 'no_routing_key', 'no_healthy_workers'],
    ],
  ])('%s starts with 0 for each %s', (name, label, values) => {
    expect(zeros(name)).toEqual(values.map((value) => ({ name, labels: { [label]: value }, value: 0 })));
  });

  it('smg_router_request_body_path_total has one path for each reason', () => {
    expect(zeros('smg_router_request_body_path_total').map(({ labels }) => [labels['path'], labels['reason']])).toEqual(
      [
        ['buffered', 'routing_key_override'],
        ['buffered', 'policy_needs_text'],
        ['buffered', 'model_ambiguous'],
        ['buffered', 'worker_mutates_body'],
        ['buffered', 'pd'],
        ['buffered', 'model_alias'],
        ['streamed', 'header_only'],
        ['streamed', 'no_body'],
        ['streamed', 'not_json'],
        ['streamed', 'mode_cannot_grant'],
      ],
    );
  });

  it.each([
    ['workerSelections', ['worker_type', 'connection_mode', 'model', 'policy']],
    ['workerPoolSize', ['worker_type', 'connection_mode', 'model']],
    ['workerHealth', ['worker']],
    ['workerRequestsActive', ['worker']],
    ['workerRoutingKeysActive', ['worker']],
    ['workerHealthChecks', ['worker_type', 'result']],
    ['routerRequests', ['router_type', 'backend_type', 'connection_mode', 'model', 'endpoint', 'streaming']],
    ['routerRequestErrors', ['router_type', 'backend_type', 'connection_mode', 'model', 'endpoint', 'error_type']],
    ['upstreamResponses', ['router_type', 'status_code', 'error_code']],
    ['requestDuration', ['router_type', 'backend_type', 'connection_mode', 'model', 'endpoint']],
  ] as const)('%s has the labels of SMG', (field, labels) => {
    expect(METRICS[field].labels.map(({ name }) => name)).toEqual(labels);
  });
});

it('every code with which the service refuses is counted from the start', () => {
  const codes = Object.entries(HTTP_CODES).filter(([, { from }]) => (from as readonly string[]).includes('service'));
  expect(METRICS.refusals.labels[0].values).toEqual(codes.map(([code]) => code));
});

describe('the metrics object', () => {
  it('takes only the label values of the table', () => {
    const metrics = createMetrics();

    expectTypeOf(metrics.routingKeySources.cell).parameter(0).toEqualTypeOf<'rid' | 'header'>();
    expectTypeOf(metrics.workerHealth.cell).parameter(0).toEqualTypeOf<string>();
    // @ts-expect-error a value outside the table
    metrics.routingKeySources.cell('cookie');
    // @ts-expect-error a label too many
    metrics.configReloads.cell('cookie');
  });

  it('is independent of other objects', () => {
    const first = createMetrics();
    first.manualBranches.cell('vacant').value += 1;

    expect(createMetrics().manualBranches.cell('vacant').value).toBe(0);
  });

  it('renders text that a parser takes, whatever a client names its model', () => {
    const metrics = createMetrics();
    metrics.workerSelections.cell('regular', 'http', 'm"\n} 1\nsmg_fake 9', 'random').value += 2;

    const { samples, type } = parseExposition(renderMetrics(metrics));

    expect(samples.find(({ name }) => name === 'smg_worker_selection_total')).toEqual({
      name: 'smg_worker_selection_total',
      labels: { worker_type: 'regular', connection_mode: 'http', model: 'm"\n} 1\nsmg_fake 9', policy: 'random' },
      value: 2,
    });
    expect(samples.some(({ name }) => name === 'smg_fake')).toBe(false);
    expect([...type.keys()]).toEqual(definitions.map(({ name }) => name));
  });
});

describe('process metrics', () => {
  it('follow ours in the same format', async () => {
    const ours = renderMetrics(createMetrics());
    const { samples, type } = parseExposition(ours + (await startProcessMetrics().text()));

    const names = new Set(samples.map(({ name }) => name));
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds']) {
      expect(names).toContain(name);
    }
    expect(type.get('nodejs_gc_duration_seconds')).toBe('histogram');
  });
});
