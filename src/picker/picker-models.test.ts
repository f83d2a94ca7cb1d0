import { describe, expect, it } from 'vitest';
import { chat, FACTS, PickerBench, type PickerBenchOptions, urlOf } from '../../test/support/picker-bench.ts';

const serving = (model: string, policy?: string) => ({
  models: [{ id: model }],
  labels: policy === undefined ? {} : { policy },
});
const first = (destination: string) => destination.split(',')[0];
const at = (n: number): string => `10.0.0.${n}:8000`;

describe('policies 2.4 several policies in one fleet', () => {
  it('count and show the policy of the model', () => {
    const bench = new PickerBench({ keys: { override: false }, config: { decisionHeader: true } });
    bench.add(1, serving('a', 'manual'));
    bench.add(2, serving('b', 'least_load'));
    bench.add(3, serving('c'));

    const shown = ['a', 'b', 'c'].map((model) => bench.pick({ model }).decisionHeader);

    expect(shown.map((text) => text?.split('policy=')[1])).toEqual(['manual', 'least_load', 'round_robin']);
    for (const [model, policy] of [
      ['a', 'manual'],
      ['b', 'least_load'],
      ['c', 'round_robin'],
    ] as const) {
      expect(bench.metrics.workerSelections.cell('regular', 'http', model, policy).value).toBe(1);
    }
  });

  it('read the body as the policies together need it', () => {
    const bench = new PickerBench({ keys: { override: false } });
    bench.add(1, serving('a'));
    expect(bench.picker.plan(chat())).toEqual({ readBody: false, reason: 'header_only' });

    bench.add(2, serving('b', 'cache_aware'));
    expect(bench.picker.plan(chat())).toEqual({ readBody: true, reason: 'policy_needs_text' });
  });
});

describe('policies 2.4 an alias in the body', () => {
  const modelAliases = new Map([['small', 'the "m"']]);
  const fleet = (config: Partial<PickerBenchOptions['config']> = {}, keys: PickerBenchOptions['keys'] = {}) => {
    const bench = new PickerBench({ keys, config: { modelAliases, ...config } });
    bench.add(1, serving('the "m"'));
    return bench;
  };
  const edits = (bench: PickerBench) => [
    bench.metrics.bodyEdits.cell('model', 'done').value,
    bench.metrics.bodyEdits.cell('model', 'not_whole').value,
  ];

  it('becomes the name of its model, and every other byte stays', () => {
    const bench = fleet();
    const body = Buffer.from('{ "prompt" : "small", "model":\t"small" ,"x":1e3 }');

    expect(String(bench.pick(body).body)).toBe('{ "prompt" : "small", "model":\t"the \\"m\\"" ,"x":1e3 }');
    expect(edits(bench)).toEqual([1, 0]);
  });

  it.each<[string, unknown]>([
    ['the model itself', { model: 'the "m"' }],
    ['no model', {}],
    ['an alias deeper down', { model: 'the "m"', metadata: { model: 'small' } }],
  ])('%s: the body goes on as it came', (_, body) => {
    const bench = fleet();

    expect(bench.pick(body).body).toBeNull();
    expect(edits(bench)).toEqual([0, 0]);
  });

  describe('stays where the body as read or as written is larger than what Envoy keeps', () => {
    const read = Buffer.from('{"model":"small"}');
    const longer = Buffer.from('{"model":"the \\"m\\""}');
    const shorter = new Map([['a-long-name', 'the "m"']]);
    const long = Buffer.from('{"model":"a-long-name"}');

    it.each([
      ['written', 0, 1],
      ['written', -1, 0],
      ['read', 0, 0],
    ] as const)('%s and %i bytes: %i', (which, spare, done) => {
      const bench = fleet({ bodyEditLimitBytes: (which === 'read' ? read : longer).length + spare });

      expect(bench.pick(read).body).toEqual(done === 1 ? longer : null);
      expect(edits(bench)).toEqual([done, 1 - done]);
    });

    it.each([
      [0, 1],
      [-1, 0],
    ])('a body that becomes shorter, and %i bytes: %i', (spare, done) => {
      const bench = fleet({ modelAliases: shorter, bodyEditLimitBytes: long.length + spare });

      expect(bench.pick(long).body).toEqual(done === 1 ? longer : null);
      expect(edits(bench)).toEqual([done, 1 - done]);
    });

    it('but not in full duplex, where Envoy keeps none', () => {
      const bench = fleet({ bodyEditLimitBytes: 10 });

      expect(bench.ask(read, {}, { ...FACTS, endpointPicker: true })).toMatchObject({ kind: 'pick', body: longer });
      expect(edits(bench)).toEqual([1, 0]);
    });
  });

  it('stays where only the beginning of the body was read', () => {
    const bench = fleet();
    const cut = { bytes: Buffer.from('{"model":"small","messages":['), complete: false };

    expect(bench.picker.pick(chat(), cut, FACTS)).toMatchObject({ kind: 'pick', body: null });
    expect(edits(bench)).toEqual([0, 1]);
  });

  it.each([
    ['/v1/chat/completions', {}, { readBody: true, reason: 'model_alias' }],
    ['/v1/responses', {}, { readBody: true, reason: 'model_alias' }],
    ['/v1/audio/transcriptions', {}, { readBody: false, reason: 'not_json' }],
    ['/v1/chat/completions', { endOfStream: true }, { readBody: false, reason: 'no_body' }],
  ])('%s is read for it, also where all workers serve one model: %j', (path, parts, plan) => {
    expect(fleet({}, { override: false }).picker.plan(chat({ path, ...parts }))).toEqual(plan);
  });

  it('goes with the rank of the worker', () => {
    const bench = new PickerBench({ config: { modelAliases } }).engine(1, 2, serving('the "m"'));

    expect(JSON.parse(String(bench.pick({ model: 'small' }).body))).toEqual({
      data_parallel_rank: 0,
      model: 'the "m"',
    });
  });
});

describe('policies 2.4 model aliases', () => {
  const modelAliases = new Map([
    ['small', 'm'],
    ['gone', 'nowhere'],
  ]);
  function fleet(options: PickerBenchOptions = {}) {
    const bench = new PickerBench({ ...options, config: { modelAliases, ...options.config } });
    bench.add(1, serving('m'));
    bench.add(2, serving('m'));
    bench.add(3, serving('n'));
    return bench;
  }

  it('stand for their model in pool, pin and counters', () => {
    const bench = fleet();

    const byAlias = bench.pick({ model: 'small', rid: 'conv' });
    const byName = bench.pick({ model: 'm', rid: 'conv' });

    expect(first(byName.destination)).toBe(first(byAlias.destination));
    expect(bench.local.peek('1:m:s:conv')).toBeDefined();
    expect(bench.local.size).toBe(1);
    expect(bench.metrics.workerSelections.cell('regular', 'http', 'm', 'round_robin').value).toBe(2);
  });

  it('decide by the policy of their model', () => {
    const bench = fleet({ keys: { override: false } });
    bench.add(4, serving('p', 'passthrough'));
    bench.picker.reconfigure({ ...bench.config, modelAliases: new Map([['short', 'p']]) });

    expect(first(bench.pick({ model: 'short' }).destination)).toBe(at(4));
    expect(bench.metrics.workerSelections.cell('regular', 'http', 'p', 'passthrough').value).toBe(1);
  });

  it('are refused by the name of their model when nobody serves that', () => {
    expect(fleet().refusal({ model: 'gone' })).toMatchObject({
      status: 404,
      code: 'model_not_found',
      message: "No worker available for model 'nowhere'",
    });
  });

  it('change nothing for other names', () => {
    expect(first(fleet().pick({ model: 'n' }).destination)).toBe(at(3));
    expect(fleet().refusal({ model: 'smal' }).code).toBe('model_not_found');
  });
});

describe('policies 2.2, sticky-sessions 7.2 every worker of a model overloaded', () => {
  function overloaded(options: PickerBenchOptions = {}, model = 'm') {
    const bench = new PickerBench(options);
    bench.add(1, serving(model));
    bench.add(2, serving(model));
    bench.registry.markSettled();
    judge(bench, true, 1, 2);
    return bench;
  }
  const judge = (bench: PickerBench, overloaded: boolean, ...numbers: number[]) =>
    bench.registry.overloadJudged(new Map(numbers.map((n) => [bench.registry.instance(urlOf(n))!, overloaded])));

  it('is a shed with the time of the next reports', () => {
    const bench = overloaded({ config: { shedRetryAfterSecs: 7 } });

    expect(bench.refusal({ model: 'm', rid: 'k' })).toMatchObject({
      status: 503,
      code: 'worker_overload_protection_shed',
      message: "All workers for model 'm' are overloaded",
      retryAfterSecs: 7,
    });
    expect(bench.metrics.overloadSheds.cell('selection').value).toBe(1);
    expect(bench.metrics.overloadSheds.cell('dispatch').value).toBe(0);
    expect(bench.metrics.manualBranches.cell('no_healthy_workers').value).toBe(1);
    expect(bench.metrics.routingKeySources.cell('rid').value).toBe(1);
    expect(bench.metrics.refusals.cell('worker_overload_protection_shed').value).toBe(1);
  });

  it.each([
    { errorStyle: null, endpointPicker: false, status: 503 },
    { errorStyle: null, endpointPicker: true, status: 429 },
    { errorStyle: 'epp', endpointPicker: false, status: 429 },
    { errorStyle: 'smg', endpointPicker: true, status: 503 },
  ] as const)('$errorStyle, endpoint picker $endpointPicker: $status (decisions 13)', ({ status, ...rest }) => {
    const bench = overloaded({ config: { errorStyle: rest.errorStyle } });
    const facts = { ...FACTS, endpointPicker: rest.endpointPicker };

    expect(bench.refusal({ model: 'm' }, {}, facts)).toMatchObject({ status, retryAfterSecs: 10 });
  });

  it('ends with the first worker that has room again', () => {
    const bench = overloaded();
    judge(bench, false, 2);

    expect(first(bench.pick({ model: 'm' }).destination)).toBe(at(2));
  });

  it('is no shed beside a worker that is out for another reason', () => {
    const bench = overloaded();
    bench.down(2);

    expect(bench.refusal({ model: 'm' })).toMatchObject({ code: 'no_available_workers', retryAfterSecs: null });
    expect(bench.metrics.overloadSheds.cell('selection').value).toBe(0);
  });

  it('is served all the same where SMG 1.13 holds, counted and without a pin', () => {
    const bench = overloaded({ routing: { shed: false } });

    const picks = [1, 2, 3, 4].map(() => first(bench.pick({ model: 'm', rid: 'k' }).destination));

    expect(picks).toEqual([at(1), at(2), at(1), at(2)]);
    expect(bench.local.size).toBe(0);
    expect(bench.metrics.overloadFallbacks.cell('selection').value).toBe(4);
    expect(bench.metrics.manualBranches.cell('no_healthy_workers').value).toBe(4);
    expect(bench.metrics.workerSelections.cell('regular', 'http', 'm', 'round_robin').value).toBe(4);
  });
});
