import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../../test/support/head.ts';
import { FACTS } from '../../../test/support/picker-bench.ts';
import type { Answer, FinalAnswer } from '../../picker/answer.ts';
import { Decider } from './decider.ts';

const PASS: FinalAnswer = { kind: 'pass' };

describe('interface 10: a failure of ours', () => {
  it.each<[when: string, answer: () => Answer | Promise<Answer>]>([
    ['of a shared store', async () => PASS],
    ['that was deferred', () => ({ kind: 'deferred', timeoutMs: 1, answer: Promise.resolve(PASS), cancel: () => {} })],
  ])('when an answer %s is handed over is told, and ends nothing', async (_, answer) => {
    const failures: unknown[] = [];
    const picker = {
      plan: () => ({ readBody: false, reason: 'no_body' as const }),
      pick: answer,
      abandon: () => {},
      reservePickId: () => 'reserved',
      stamp: () => null,
    };
    const observer = {
      bodyPath: () => {},
      passed: () => {},
      pickFailed: (error: unknown) => failures.push(error),
      headerLeftOut: () => {},
    };
    const decider = new Decider(picker, observer, 1000, {
      answered: () => {
        throw new Error('bug');
      },
      deferred: () => {},
    });
    decider.decide(headOf({}), null, FACTS);
    await tick();
    expect([failures.length, decider.pending]).toEqual([1, false]);
  });
});
