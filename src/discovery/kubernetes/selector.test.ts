import { describe, expect, it } from 'vitest';
import { PodLog } from '../../../test/support/kube/pod-log.ts';
import { readPod } from './pod.ts';
import { commonLabels, matches, readSelector } from './selector.ts';

function podWith(labels: Record<string, string>) {
  const log = new PodLog();
  log.create({ name: 'a', labels });
  return readPod(log.list({ namespace: null, labels: '' })[0])!;
}

describe('selectors', () => {
  it.each<[string[], Record<string, string>, boolean]>([
    [['app=engine'], { app: 'engine', x: 'y' }, true],
    [['app=engine', 'x=z'], { app: 'engine', x: 'y' }, false],
    [['app=engine', 'app=other'], { app: 'other' }, true],
    [['app.kubernetes.io/name=e'], { 'app.kubernetes.io/name': 'e' }, true],
    [['constructor=x'], {}, false],
    [[], { app: 'engine' }, false],
  ])('%j on %j: %s', (pairs, labels, fits) => {
    expect(matches(podWith(labels), readSelector(pairs))).toBe(fits);
  });

  it.each<[string[][], string]>([
    [[['a=1', 'b=2']], 'a=1,b=2'],
    [
      [
        ['a=1', 'role=p'],
        ['a=1', 'role=d'],
      ],
      'a=1',
    ],
    [[['a=1'], []], 'a=1'],
    [[['a=1'], ['b=1']], ''],
    [[[], []], ''],
  ])('one watch for %j asks for %j', (selectors, text) => {
    expect(commonLabels(selectors.map(readSelector))).toBe(text);
  });
});
