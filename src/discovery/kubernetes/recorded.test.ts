import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { jsonObject, listOf, type Pod, readPod, textOf } from './pod.ts';
import { workersOfPods } from './pod-workers.ts';
import { readSelector } from './selector.ts';

/** Bytes of a kube-apiserver 1.34.4: two pods that come, turn ready and not ready, and go; one by losing its label. */
const RECORDED = new URL('../../../test/support/kube/recorded/', import.meta.url);
const lines = readFileSync(new URL('watch.jsonl', RECORDED), 'utf8').trim().split('\n');
const RULES = {
  roles: [{ workerType: 'regular' as const, selector: readSelector(['app=vllm']) }],
  port: 8000,
  modelIdFrom: null,
  withNamespace: false,
};

describe('a recorded watch', () => {
  it('has every state of a pod', () => {
    const list = listOf(JSON.parse(readFileSync(new URL('list.json', RECORDED), 'utf8'))['items']);
    const pods = new Map(list.map((item) => [textOf(jsonObject(item['metadata'])['name']), readPod(item)!]));
    const states: string[] = [statesOf(pods)];
    for (const line of lines) {
      const { type, object } = jsonObject(JSON.parse(line));
      const pod = readPod(object);
      if (pod === null) {
        states.push(textOf(type));
        continue;
      }
      if (type === 'DELETED') pods.delete(pod.name);
      else pods.set(pod.name, pod);
      states.push(statesOf(pods));
    }

    expect(states).toEqual([
      '',
      '10.1.0.1 unready',
      '10.1.0.1 up',
      '10.1.0.1 up',
      '10.1.0.1 up, [fd00::2] up',
      '10.1.0.1 unready, [fd00::2] up',
      '10.1.0.1 up, [fd00::2] up',
      '10.1.0.1 leaving, [fd00::2] up',
      '10.1.0.1 leaving, [fd00::2] up',
      '[fd00::2] up',
      '',
      'BOOKMARK',
    ]);
  });
});

function statesOf(pods: ReadonlyMap<string, Pod>): string {
  const { workers } = workersOfPods(pods.values(), RULES);
  return workers.map(({ spec, state }) => `${spec.url.id.slice(7).replace(':8000', '')} ${state}`).join(', ');
}
