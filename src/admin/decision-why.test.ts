import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import {
  type Decision,
  newTrail,
  type Outcome,
  RING_BRANCHES,
  STICKY_BRANCHES,
  TREE_BRANCHES,
  type Trail,
} from '../routing/decision.ts';
import { PASS_REASONS, REFUSAL_CODES } from '../telemetry/own-metrics.ts';
import { whyOf } from './decision-why.ts';

function placed(noted: Partial<Trail>, rest: Partial<Decision> = {}): Outcome {
  return {
    kind: 'placed',
    worker: makeWorker('w1'),
    fallbacks: [],
    strict: false,
    closed: false,
    policy: 'cache_aware',
    model: 'm',
    pinKey: null,
    loadKey: 'secret-key',
    write: null,
    prefill: null,
    trail: { ...newTrail(), ...noted },
    ...rest,
  };
}

const REFUSED = { kind: 'refused', leg: 'single', detail: null, strict: false, policy: 'manual', model: 'm' } as const;

describe('decisions in plain words', () => {
  it.each<[string, Outcome, string]>([
    ['a pin that held', placed({ stickyBranch: 'occupied_hit' }), 'the pin held'],
    ['a new key', placed({ stickyBranch: 'vacant' }), 'not pinned yet; cache_aware chose this worker'],
    ['a worker that is out', placed({ stickyBranch: 'occupied_miss' }), 'cannot serve now'],
    ['a prompt that is known', placed({ cacheBranch: 'tree_match', matchRatio: 0.754 }), '75 % of the prompt is known'],
    ['a named worker', placed({ ringBranch: 'target_worker_hit' }, { strict: true }), 'names this worker'],
    ['past the veto', placed({ stickyBranch: 'vacant', pastVeto: true }), 'least loaded of them'],
    [
      'a prefill',
      placed({}, { prefill: placed({ stickyBranch: 'vacant' }, { worker: makeWorker('p1') }) as Decision }),
      'prefill goes to p1 (vacant)',
    ],
    ['no worker', { ...REFUSED, reason: 'no_available_workers', trail: newTrail() }, 'no worker can take it'],
    [
      'nobody with that model',
      { ...REFUSED, reason: 'model_not_found', trail: newTrail() },
      'no worker serves the model',
    ],
  ])('%s', (_name, outcome, words) => {
    const text = whyOf({ outcome, why: null });

    expect(text).toContain(words);
    expect(text).not.toContain('secret');
  });

  it('has words for every branch, refusal and pass', () => {
    const texts = [
      ...STICKY_BRANCHES.map((stickyBranch) => whyOf({ outcome: placed({ stickyBranch }), why: null })),
      ...RING_BRANCHES.map((ringBranch) => whyOf({ outcome: placed({ ringBranch }), why: null })),
      ...TREE_BRANCHES.map((cacheBranch) => whyOf({ outcome: placed({ cacheBranch }), why: null })),
      ...[...REFUSAL_CODES, ...PASS_REASONS].map((why) => whyOf({ outcome: null, why })),
    ];

    for (const text of texts) expect(text).toMatch(/^[A-Z].{15,}\.$/);
    expect(texts.join()).not.toContain('undefined');
  });
});
