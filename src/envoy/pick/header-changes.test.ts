import { expect, it } from 'vitest';
import type { PickAnswer } from '../../picker/answer.ts';
import { headOf } from './head.suite.ts';
import { changesOfPick, controlHeaders, removals } from './header-changes.ts';

const PICK: PickAnswer = {
  kind: 'pick',
  pickId: 'p',
  destination: '10.0.0.1:8000',
  strict: false,
  maxRetries: null,
  rank: null,
  requestId: null,
  decisionHeader: null,
  body: null,
  prefillHeader: null,
  prefillMirror: null,
};
const OBSERVER = { bodyPath() {}, passed() {}, pickFailed() {}, headerLeftOut() {} };
const head = headOf([{ key: 'x-prefiller-host-port', rawValue: Buffer.from('169.254.169.254:80') }]);

it('field-lessons R41: no client names the prefill worker', () => {
  const base = removals(head, controlHeaders(''));
  expect(base).toEqual({ remove: ['x-prefiller-host-port'], set: [] });
  expect(changesOfPick(PICK, base, '', false, OBSERVER)).toEqual(base);
});

it('decisions 27: the sidecar of the decode worker is told the one that was picked', () => {
  const base = removals(head, controlHeaders(''));
  expect(changesOfPick({ ...PICK, prefillHeader: '10.0.0.2:8000' }, base, '', false, OBSERVER)).toEqual({
    remove: ['x-prefiller-host-port'],
    set: [{ name: 'x-prefiller-host-port', value: '10.0.0.2:8000' }],
  });
});
