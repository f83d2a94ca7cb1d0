import { describe, expect, it } from 'vitest';
import { NAMESPACE, PodLog, type PodShape } from '../../../test/support/kube/pod-log.ts';
import { type Pod, readPod } from './pod.ts';
import { type PodRules, readModelIdSource, workersOfPods } from './pod-workers.ts';
import { readSelector } from './selector.ts';

const LABELS = { app: 'engine' };

function rules(change: Partial<PodRules> = {}): PodRules {
  const roles = [{ workerType: 'regular' as const, selector: readSelector(['app=engine']) }];
  return { roles, port: 8000, modelIdFrom: null, withNamespace: false, ...change };
}

/** Pods as an API server would tell them. */
function podsOf(...shapes: readonly Partial<PodShape>[]): Pod[] {
  const log = new PodLog();
  for (const [index, shape] of shapes.entries()) {
    log.create({ name: `pod-${index}`, labels: LABELS, ip: `10.1.0.${index + 1}`, ready: true, ...shape });
  }
  return log.list({ namespace: null, labels: '' }).map((raw) => readPod(raw)!);
}

function found(pods: readonly Pod[], change: Partial<PodRules> = {}) {
  const { workers, notes } = workersOfPods(pods, rules(change));
  return { urls: workers.map(({ spec }) => spec.url.id), specs: workers.map(({ spec }) => spec), workers, notes };
}

describe('decisions 17 pods as workers', () => {
  it.each<[string, Partial<PodShape>, string | null]>([
    ['ready and running', {}, 'up'],
    ['not ready', { ready: false }, 'unready'],
    ['ready, but not running yet', { phase: 'Pending' }, 'unready'],
    ['of an unknown phase, as its node is lost', { phase: 'Unknown' }, 'unready'],
    ['evicted', { phase: 'Failed', ready: false }, null],
    ['ended', { phase: 'Succeeded', ready: false }, null],
    ['of other labels', { labels: { app: 'redis' } }, null],
  ])('a pod that is %s', (_, shape, state) => {
    expect(found(podsOf(shape)).workers.map((worker) => worker.state)).toEqual(state === null ? [] : [state]);
  });

  it('has no worker before it has an address', () => {
    const log = new PodLog();
    log.create({ name: 'a', labels: LABELS, ready: true });
    const [pod] = log.list({ namespace: null, labels: '' }).map((raw) => readPod(raw)!);
    expect(found([pod!]).urls).toEqual([]);
  });

  it('is leaving as soon as it is deleted', () => {
    const log = new PodLog();
    log.create({ name: 'a', labels: LABELS, ip: '10.1.0.1', ready: true });
    log.terminate('a');
    const pods = log.list({ namespace: null, labels: '' }).map((raw) => readPod(raw)!);
    expect(found(pods).workers).toMatchObject([{ state: 'leaving' }]);
  });

  it('carries its name and uid', () => {
    const { specs, workers } = found(podsOf({ name: 'vllm-0' }));
    expect(specs).toMatchObject([
      {
        name: 'vllm-0',
        labels: { 'smg.ai/pod-name': 'vllm-0', 'smg.ai/pod-uid': 'uid-1' },
        models: [],
        bootstrapPort: null,
      },
    ]);
    expect(workers).toMatchObject([{ incarnation: 'uid-1' }]);
  });

  it('is called by its namespace too where there are several', () => {
    expect(found(podsOf({ name: 'a' }), { withNamespace: true }).specs[0]!.name).toBe(`${NAMESPACE}/a`);
  });

  it.each([
    ['IPv4', '10.9.8.7', 'http://10.9.8.7:8000'],
    ['IPv6', 'fd00::7', 'http://[fd00::7]:8000'],
  ])('%s', (_, ip, url) => {
    expect(found(podsOf({ ip })).urls).toEqual([url]);
  });

  it('two pods on the network of one node have one address, and the living one has it', () => {
    const pods = podsOf({ ip: '10.1.0.1', ready: false }, { ip: '10.1.0.1' });
    expect(found(pods).workers).toMatchObject([{ state: 'up', incarnation: 'uid-2' }]);
    expect(found(pods.toReversed()).workers).toMatchObject([{ state: 'up', incarnation: 'uid-2' }]);
  });
});

describe('ports of a pod', () => {
  const PORTS = { http: 8080, second: 8081 };
  it.each<[string, string | undefined, number[], boolean]>([
    ['none written', undefined, [8000], false],
    ['one', '9000', [9000], false],
    ['several, in order, each once', '9001, 9000,9001', [9001, 9000], false],
    ['names of container ports', 'http,second', [8080, 8081], false],
    ['names and numbers', 'http,9000', [8080, 9000], false],
    ['a name that no container has', 'https', [8000], true],
    ['0', '0', [8000], true],
    ['too large', '65536', [8000], true],
    ['nothing', '', [8000], true],
    ['a trailing comma', '9000,', [8000], true],
    ['a member of every object', 'constructor', [8000], true],
  ])('%s', (_, written, ports, noted) => {
    const annotations = written === undefined ? {} : { 'smg.ai/worker-ports': written };
    const { urls, notes } = found(podsOf({ annotations, ports: PORTS }));
    expect(urls).toEqual(ports.map((port) => `http://10.1.0.1:${port}`));
    expect(notes.size).toBe(noted ? 1 : 0);
  });

  it('tells the workers of one pod apart by name', () => {
    const { specs } = found(podsOf({ annotations: { 'smg.ai/worker-ports': '1,2' } }));
    expect(specs.map(({ name }) => name)).toEqual(['pod-0:1', 'pod-0:2']);
  });
});

describe('policies prefill and decode', () => {
  const roles = [
    { workerType: 'prefill' as const, selector: readSelector(['app=engine', 'role=prefill']) },
    { workerType: 'decode' as const, selector: readSelector(['app=engine', 'role=decode']) },
  ];

  it('the selectors say what a pod is; one that fits neither is none', () => {
    const of = (role: string) => ({ labels: { ...LABELS, role } });
    const { specs } = found(podsOf(of('prefill'), of('decode'), of('both')), { roles });
    expect(specs.map(({ workerType }) => workerType)).toEqual(['prefill', 'decode']);
  });

  it.each<[string, string, string, (number | null)[], boolean]>([
    ['one for all', '1,2', '8998', [8998, 8998], false],
    ['one for each', '1,2', '8998,8999', [8998, 8999], false],
    ['as many as nothing', '1,2', '1,2,3', [null, null], true],
    ['junk', '1', 'x', [null], true],
  ])('bootstrap ports: %s', (_, workers, bootstrap, ports, noted) => {
    const annotations = { 'smg.ai/worker-ports': workers, 'sglang.ai/bootstrap-port': bootstrap };
    const { specs, notes } = found(podsOf({ annotations, labels: { ...LABELS, role: 'prefill' } }), { roles });
    expect(specs.map(({ bootstrapPort }) => bootstrapPort)).toEqual(ports);
    expect(notes.size).toBe(noted ? 1 : 0);
  });

  it.each<[role: string, string, string | undefined, (string | null)[], boolean]>([
    ['prefill', '1', 'engine-a', ['engine-a'], false],
    ['decode', '1', 'engine-a', ['engine-a'], false],
    ['prefill', '1,2', 'a, b', ['a', 'b'], false],
    ['prefill', '1,2', 'a', ['a', 'a'], false],
    ['prefill', '1,2', 'a,b,c', [null, null], true],
    ['prefill', '1', '', [null], true],
    ['prefill', '1', undefined, [null], false],
  ])('policies 4.2, 4.4: connector and engine ids of a %s pod of ports %s: %s', (role, workers, ids, known, noted) => {
    const annotations = {
      'smg.ai/worker-ports': workers,
      'smg.ai/kv-connector': 'NixlConnector',
      ...(ids === undefined ? {} : { 'smg.ai/kv-engine-id': ids }),
    };
    const { specs, notes } = found(podsOf({ annotations, labels: { ...LABELS, role } }), { roles });
    expect(specs.map(({ kvEngineId }) => kvEngineId)).toEqual(known);
    expect(specs.map(({ kvConnector }) => kvConnector)).toEqual(known.map(() => 'NixlConnector'));
    expect(notes.size).toBe(noted ? 1 : 0);
  });

  it('a regular pod has neither', () => {
    const annotations = { 'smg.ai/kv-connector': 'NixlConnector', 'smg.ai/kv-engine-id': 'a' };
    expect(found(podsOf({ annotations })).specs).toMatchObject([{ kvConnector: null, kvEngineId: null }]);
  });

  it('a decode pod has no bootstrap port', () => {
    const annotations = { 'sglang.ai/bootstrap-port': '8998' };
    const { specs } = found(podsOf({ annotations, labels: { ...LABELS, role: 'decode' } }), { roles });
    expect(specs).toMatchObject([{ bootstrapPort: null }]);
  });
});

describe('--model-id-from', () => {
  it.each<[string, string | null]>([
    ['namespace', NAMESPACE],
    ['label:app', 'engine'],
    ['annotation:team/model', 'llama'],
    ['label:none', null],
    ['annotation:empty', null],
  ])('%s', (from, model) => {
    const pods = podsOf({ annotations: { 'team/model': 'llama', empty: '' } });
    const { specs } = found(pods, { modelIdFrom: readModelIdSource(from) });
    expect(specs).toMatchObject([{ models: model === null ? [] : [model], modelsBeside: model !== null }]);
    expect(specs[0]!.labels['served_model_name']).toBe(model ?? undefined);
  });
});
