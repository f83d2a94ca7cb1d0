import { describe, expect, it } from 'vitest';
import { makePool, makeWorker } from '../../../test/support/fleet.ts';
import { ByModel } from './by-model.ts';
import { MAX_MODELS, modelKeyOf } from './model-key.ts';

describe('policies 1.6.2 step 2, model key', () => {
  it.each([
    ['the model of the request where the worker lists it', 'b', ['a', 'b'], 'b'],
    ['the first model of the worker otherwise', 'unknown', ['a', 'b'], 'a'],
    ['unknown for a worker that lists none, whatever the client says', 'gpt-made-up', [], 'unknown'],
  ])('is %s', (_, model, models, expected) => {
    const worker = makeWorker('w', { models });

    expect(modelKeyOf(makePool([worker], model), worker)).toBe(expected);
  });
});

class Memory {
  readonly added: string[] = [];
  readonly forgotten: string[] = [];

  add(workerId: string): void {
    this.added.push(workerId);
  }

  forget(workerId: string): void {
    this.forgotten.push(workerId);
  }
}

describe('ByModel', () => {
  const poolOf = (model: string, ...ids: readonly string[]) =>
    makePool(
      ids.map((id) => makeWorker(id, { models: [model] })),
      model,
    );
  const ask = (models: ByModel<Memory>, pool: ReturnType<typeof makePool>, now = 0) =>
    models.of(pool, pool.members[0]!, now);

  it('registers the workers of a list once', () => {
    const models = new ByModel(() => new Memory());
    const pool = poolOf('m', 'w1', 'w2');
    ask(models, pool);

    expect(ask(models, pool).added).toEqual(['w1', 'w2']);
    expect(ask(models, poolOf('m', 'w1', 'w3')).added).toEqual(['w1', 'w2', 'w1', 'w3']);
  });

  it('tells a worker to be forgotten to the models that know it', () => {
    const models = new ByModel(() => new Memory());
    const m = ask(models, poolOf('m', 'w1', 'w2'));
    const n = ask(models, poolOf('n', 'w2', 'w3'));
    models.forget('w1');

    expect([m.forgotten, n.forgotten]).toEqual([['w1'], []]);
  });

  it('drops a model with its last worker', () => {
    const models = new ByModel(() => new Memory());
    ask(models, poolOf('m', 'w1'));
    ask(models, poolOf('n', 'w2'));
    models.forget('w1');

    expect(models.map((model) => model)).toEqual(['n']);
  });

  it('holds no more than its most models: the one not used for the longest time leaves', () => {
    const models = new ByModel(() => new Memory());
    for (let i = 0; i < MAX_MODELS; i++) ask(models, poolOf(`m${i}`, 'w1'), i);
    ask(models, poolOf('m0', 'w1'), MAX_MODELS);
    ask(models, poolOf('one more', 'w1'), MAX_MODELS);

    const held = models.map((model) => model);
    expect(held).toHaveLength(MAX_MODELS);
    expect(held).toContain('m0');
    expect(held).not.toContain('m1');
  });

  it('counts the workers of each model', () => {
    const models = new ByModel(() => new Memory());
    ask(models, poolOf('m', 'w1', 'w2'));

    expect(models.map((model, _, workers) => [model, workers])).toEqual([['m', 2]]);
  });
});
