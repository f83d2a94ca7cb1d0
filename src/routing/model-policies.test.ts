import { describe, expect, it } from 'vitest';
import { makePool, makeSnapshot, makeWorker } from '../../test/support/fleet.ts';
import { policyOptions } from '../../test/support/routing.ts';
import type { Worker } from '../workers/worker.ts';
import { ModelPolicies } from './model-policies.ts';
import type { Policy } from './policy.ts';
import { POLICY_FACTS } from './policy-facts.ts';
import type { PolicyName } from './policy-name.ts';
import { BUCKET_DEFAULTS, EXPECTED_WAIT_DEFAULTS, type PolicyOptions } from './policy-parameters.ts';

interface Created {
  readonly name: PolicyName;
  readonly options: PolicyOptions;
  readonly forgotten: string[];
  readonly policy: Policy;
}

/** Policies whose making and forgetting is written down. */
function recorded(name: PolicyName = 'round_robin', options = policyOptions()) {
  const created: Created[] = [];
  const unknown: string[] = [];
  const create = (made: PolicyName, of: PolicyOptions): Policy => {
    const forgotten: string[] = [];
    const policy: Policy = {
      name: made,
      facts: POLICY_FACTS[made],
      pick: () => null,
      next: () => null,
      memory: { learn: () => {}, forget: (id) => forgotten.push(id), tend: () => false, sizes: () => [] },
    };
    created.push({ name: made, options: of, forgotten, policy });
    return policy;
  };
  const unknownLabel = ({ id }: Worker, label: string) => unknown.push(`${id}: ${label}`);
  const policies = new ModelPolicies({ name, options }, { create, unknownLabel });
  const nameOf = (model: string) => policies.of(makePool([], model)).name;
  return {
    policies,
    created,
    unknown,
    nameOf,
    follow: (...workers: Worker[]) => policies.follow(makeSnapshot(workers)),
  };
}

const worker = (id: string, model: string, policy?: string, overrides: Partial<Worker> = {}) =>
  makeWorker(id, {
    models: model === '' ? [] : [model],
    labels: policy === undefined ? {} : { policy },
    ...overrides,
  });

describe('policies 2.4 policy by model', () => {
  it('shares one policy between all models without a label', () => {
    const { policies, follow, created } = recorded();
    follow(worker('a', 'm'), worker('b', 'n'));

    expect(policies.of(makePool([], 'm'))).toBe(policies.standard);
    expect(policies.of(makePool([], 'n'))).toBe(policies.standard);
    expect(created).toHaveLength(1);
    expect(policies.single).toBe(true);
  });

  it('lets the label of the first registered worker decide, and no later one', () => {
    const { nameOf, follow } = recorded();

    follow(worker('a', 'm', 'least_load'), worker('b', 'm', 'random'), worker('c', 'n'), worker('d', 'n', 'random'));

    expect([nameOf('m'), nameOf('n')]).toEqual(['least_load', 'round_robin']);
  });

  it('keeps what the first worker said while any worker of the model is there', () => {
    const { nameOf, follow } = recorded();
    follow(worker('a', 'm', 'least_load'), worker('b', 'm', 'random'));

    follow(worker('b', 'm', 'random'));
    expect(nameOf('m')).toBe('least_load');

    follow();
    follow(worker('b', 'm', 'random'));
    expect(nameOf('m')).toBe('random');
  });

  it.each(['least_load', 'LeastLoad', 'leastload', 'LEAST_LOAD'])('knows the spelling %s (policies 0.4)', (label) => {
    const { nameOf, follow, unknown } = recorded();
    follow(worker('a', 'm', label));

    expect(nameOf('m')).toBe('least_load');
    expect(unknown).toEqual([]);
  });

  it('tells of a name that is none, once, and falls back to the gateway policy', () => {
    const { nameOf, follow, unknown } = recorded();
    follow(worker('a', 'm', 'fastest'));
    follow(worker('a', 'm', 'fastest'), worker('b', 'm'));

    expect(nameOf('m')).toBe('round_robin');
    expect(unknown).toEqual(['a: fastest']);
  });

  it('gives each model an instance of its own', () => {
    const { policies, follow } = recorded();
    follow(worker('a', 'm', 'bucket'), worker('b', 'n', 'bucket'));

    expect(policies.all.map(({ name }) => name)).toEqual(['round_robin', 'bucket', 'bucket']);
    expect(policies.of(makePool([], 'm'))).not.toBe(policies.of(makePool([], 'n')));
  });

  it('takes the label of a worker that lists no model for requests without one, and for models that nobody lists', () => {
    const { nameOf, follow } = recorded();
    follow(worker('a', 'm'), worker('w', '', 'least_load'));

    expect([nameOf('unknown'), nameOf('whatever'), nameOf('m')]).toEqual(['least_load', 'least_load', 'round_robin']);
  });

  it('does not take a worker that was not asked for its models for one that lists none', () => {
    const { nameOf, follow } = recorded();
    follow(worker('w', '', 'least_load', { status: 'pending' }));

    expect(nameOf('unknown')).toBe('round_robin');
  });

  it('ignores labels on prefill and decode workers', () => {
    const { nameOf, follow } = recorded();
    follow(worker('p', 'm', 'random', { type: 'prefill' }), worker('d', 'm', 'bucket', { type: 'decode' }));

    expect(nameOf('m')).toBe('round_robin');
  });
});

describe('policies 1.6.1 parameters of a labelled policy', () => {
  const operator = policyOptions({
    leastLoad: { ...EXPECTED_WAIT_DEFAULTS, defaultThroughput: 7 },
    bucket: { ...BUCKET_DEFAULTS, balanceAbsThreshold: 7 },
  });

  it('are SMG’s own, with the key rules of the gateway', () => {
    const { follow, created } = recorded('round_robin', operator);
    follow(worker('a', 'm', 'bucket'));

    expect(created[1]!.options.bucket).toEqual(BUCKET_DEFAULTS);
    expect(created[1]!.options.keys).toBe(operator.keys);
  });

  it('are the operator’s where the gateway runs the same policy', () => {
    const { follow, created, policies } = recorded('bucket', operator);
    follow(worker('a', 'm', 'bucket'));

    expect(created[1]!.options.bucket.balanceAbsThreshold).toBe(7);
    expect(policies.single).toBe(false);
  });

  it('follow the gateway over a reload', () => {
    const { policies, follow, created } = recorded('round_robin', operator);
    follow(worker('a', 'm', 'bucket'));
    policies.configure({ name: 'bucket', options: operator });

    expect(created.map(({ name, options }) => [name, options.bucket.balanceAbsThreshold])).toEqual([
      ['round_robin', 7],
      ['bucket', BUCKET_DEFAULTS.balanceAbsThreshold],
      ['bucket', 7],
      ['bucket', 7],
    ]);
  });
});

describe('what a policy knows over a reload', () => {
  it('stays where name and parameters do', () => {
    const { policies, follow } = recorded('least_load');
    follow(worker('a', 'm', 'bucket'));
    const before = policies.all;

    policies.configure({ name: 'least_load', options: policyOptions({ bucket: { ...BUCKET_DEFAULTS } }) });

    expect(policies.all).toEqual(before);
    expect(policies.all[0]).toBe(before[0]);
    expect(policies.all[1]).toBe(before[1]);
  });

  it.each([
    { name: 'random' as const, options: policyOptions() },
    {
      name: 'least_load' as const,
      options: policyOptions({ leastLoad: { ...EXPECTED_WAIT_DEFAULTS, maxWaitingRequests: 3 } }),
    },
  ])('is lost with another $name', ({ name, options }) => {
    const { policies } = recorded('least_load');
    const before = policies.standard;

    policies.configure({ name, options });

    expect(policies.standard).not.toBe(before);
    expect(policies.standard.name).toBe(name);
  });
});

describe('workers that leave', () => {
  it('are forgotten by every policy, once', () => {
    const { follow, created } = recorded();
    follow(worker('a', 'm', 'bucket'), worker('b', 'm'), worker('c', 'n'));
    follow(worker('b', 'm'), worker('c', 'n', undefined, { status: 'failed' }));
    follow(worker('b', 'm'));

    expect(created.map(({ forgotten }) => forgotten)).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ]);
  });
});

describe('what the policies together need', () => {
  it('load reports, as soon as one of them looks at them', () => {
    const { policies, follow } = recorded();
    expect(policies.needsLoads).toBe(false);

    follow(worker('a', 'm', 'least_load'));
    expect(policies.needsLoads).toBe(true);

    follow();
    expect(policies.needsLoads).toBe(false);
  });
});
