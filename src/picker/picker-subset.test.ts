import { describe, expect, it } from 'vitest';
import type { HeadParts } from '../../test/support/head.ts';
import { chat, FACTS, PickerBench, type PickerBenchOptions } from '../../test/support/picker-bench.ts';
import type { PickAnswer, StreamFacts } from './answer.ts';
import { SubsetHint } from './subset-hint.ts';

const within = (value: unknown): StreamFacts => ({ ...FACTS, endpointPicker: true, subset: new SubsetHint(value) });
const KEY: HeadParts = { headers: [['x-smg-routing-key', 'k']] };

function bench(options: PickerBenchOptions = {}): PickerBench {
  return new PickerBench({ keys: { override: true }, ...options }).ready(1, 2, 3);
}

function picked(house: PickerBench, facts: StreamFacts, parts: HeadParts = {}): PickAnswer {
  const answer = house.ask(null, parts, facts);
  if (answer instanceof Promise || answer.kind !== 'pick') throw new Error(`no pick: ${JSON.stringify(answer)}`);
  return answer;
}

describe('endpoint-picker-protocol 2 a request with a subset', () => {
  it('P3 goes to workers of the subset only, first and after a failure', () => {
    const house = bench();
    for (let i = 0; i < 4; i += 1) {
      expect(picked(house, within(['10.0.0.3:8000'])).destination).toBe('10.0.0.3:8000');
      const two = picked(house, within('10.0.0.1, 10.0.0.3')).destination.split(',').sort();
      expect(two).toEqual(['10.0.0.1:8000', '10.0.0.3:8000']);
    }
  });

  it('makes no more attempts than the subset has workers, as Envoy draws from all of them afterwards', () => {
    const house = bench();

    expect(picked(house, within('10.0.0.3')).maxRetries).toBe(0);
    expect(picked(house, within('10.0.0.1,10.0.0.3')).maxRetries).toBe(1);
    expect(picked(house, FACTS).maxRetries).toBeNull();
  });

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['an empty text', ''],
    ['a wrong type', 7],
    ['unknown endpoints', ['10.9.9.9:8000']],
    ['a worker that is down', ['10.0.0.2:8000']],
  ])('P2, P4 %s: 503 in the envelope', (_name, value) => {
    const house = bench();
    house.down(2);

    expect(house.refusal(null, {}, within(value))).toMatchObject({ status: 503, code: 'no_available_workers' });
    expect(house.refusal(null, KEY, within(value))).toMatchObject({ status: 503, code: 'no_available_workers' });
  });

  it('is refused where nobody else may serve it, also while the fleet is not judged yet', () => {
    const house = new PickerBench();
    house.announce(1);

    expect(house.ask(null, {}, FACTS)).toEqual({ kind: 'pass' });
    expect(house.refusal(null, {}, within('10.0.0.1')).status).toBe(503);
  });

  it('leaves its pin for a worker of the subset, as if its own could not serve, and stays there', () => {
    const house = bench();
    const first = picked(house, FACTS, KEY).destination.split(',')[0];
    const others = ['10.0.0.1:8000', '10.0.0.2:8000', '10.0.0.3:8000'].filter((address) => address !== first);

    const second = picked(house, within(others), KEY);
    const moved = second.destination.split(',')[0];

    expect(others).toContain(moved);
    expect(picked(house, FACTS, KEY).destination.split(',')[0]).toBe(moved);
    expect(house.metrics.manualBranches.cell('occupied_miss').value).toBe(1);
  });

  it('finds a target worker in the subset only', () => {
    const house = bench({ policy: 'consistent_hashing', keys: {} });
    const target = { headers: [['x-smg-target-worker', '10.0.0.2:8000']] } as const;

    expect(picked(house, within('10.0.0.2'), target)).toMatchObject({ destination: '10.0.0.2:8000', strict: true });
    expect(house.refusal(null, target, within('10.0.0.1')).status).toBe(503);
  });

  it('reaches ranks by the address that they share', () => {
    const house = new PickerBench().engine(1, 2).engine(2, 2);

    expect(picked(house, within('10.0.0.2:8000')).destination).toBe('10.0.0.2:8000');
  });
});

describe('decisions 43 --test-endpoint-selection', () => {
  const on: PickerBenchOptions = { config: { testEndpointSelection: true } };
  const naming = (value: string): HeadParts => ({ headers: [['test-epp-endpoint-selection', value]] });
  const plan = (house: PickerBench, { headers = [] }: HeadParts) =>
    house.picker.plan(chat({ headers: [['content-type', 'application/json'], ...headers] }));

  it.each([
    ['10.0.0.3:8000', '10.0.0.3:8000'],
    ['10.0.0.2', '10.0.0.2:8000'],
    [' 10.0.0.3:8000 , 10.0.0.1 ', '10.0.0.3:8000,10.0.0.1:8000'],
    ['10.0.0.3,10.0.0.2:8000,10.0.0.1,10.0.0.3:8000', '10.0.0.3:8000,10.0.0.2:8000,10.0.0.1:8000'],
    ['10.9.9.9:8000,10.0.0.1', '10.0.0.1:8000'],
    ['10.0.0.4,10.0.0.2', '10.0.0.2:8000'],
  ])('%s: %s', (value, destination) => {
    const house = bench(on);
    house.add(4, {});
    house.down(4);

    expect(picked(house, FACTS, naming(value)).destination).toBe(destination);
  });

  it.each(['10.9.9.9:8000', '10.0.0.1:9999', ',', 'w1'])('%s: 503', (value) => {
    expect(bench(on).refusal(null, naming(value))).toMatchObject({ status: 503, code: 'no_available_workers' });
  });

  it('outranks the subset, the pin and the need of a body', () => {
    const house = bench(on);
    const parts = { headers: [...(KEY.headers ?? []), ...(naming('10.0.0.2').headers ?? [])] };

    expect(picked(house, within('10.0.0.1'), parts).destination).toBe('10.0.0.2:8000');
    expect(plan(house, parts).readBody).toBe(false);
    expect(house.local.size).toBe(0);
  });

  it.each([
    ['without the switch', {}, '10.0.0.3'],
    ['with an empty header', on, ''],
  ])('is not obeyed %s', (_name, options, value) => {
    const house = bench(options);

    expect(picked(house, FACTS, naming(value)).destination).toBe('10.0.0.1:8000,10.0.0.2:8000,10.0.0.3:8000');
    expect(plan(house, naming(value)).readBody).toBe(true);
  });
});
