import { describe, expect, it } from 'vitest';
import { chat, FACTS, PickerBench, type PickerBenchOptions, urlOf } from '../../test/support/picker-bench.ts';

/** Two engines of two ranks: `10.0.0.1` and `10.0.0.2`. */
const two = (options: PickerBenchOptions = {}) => new PickerBench(options).engine(1, 2).engine(2, 2);
const at = (...numbers: number[]) => numbers.map((n) => `10.0.0.${n}:8000`).join();
const BODY = { model: 'm', messages: [] };
const told = (answer: { body: Buffer | null }) =>
  answer.body === null ? null : JSON.parse(answer.body.toString('utf8'))['data_parallel_rank'];
const edits = (bench: PickerBench, result: 'done' | 'not_whole') =>
  bench.metrics.bodyEdits.cell('data_parallel_rank', result).value;

describe('policies 2.4 the rank of the picked worker', () => {
  it('stands in the body and beside it; the rest of the body stays', () => {
    const bench = two();

    const picks = [0, 1, 2, 3, 4].map(() => bench.pick({ ...BODY, data_parallel_rank: 'theirs' }));

    expect(picks.map(({ destination, rank }) => [destination.split(',')[0], rank])).toEqual([
      [at(1), 0],
      [at(1), 1],
      [at(2), 0],
      [at(2), 1],
      [at(1), 0],
    ]);
    expect(picks.map(({ body }) => JSON.parse(String(body)))).toEqual(
      [0, 1, 0, 1, 0].map((rank) => ({ ...BODY, data_parallel_rank: rank })),
    );
    expect([edits(bench, 'done'), edits(bench, 'not_whole')]).toEqual([5, 0]);
  });

  it('a body that was not read whole goes on as it is: the engine is right, and chooses the rank', () => {
    const bench = two();
    const cut = { bytes: Buffer.from('{"model":"m","messages":['), complete: false };
    const answers = [
      bench.picker.pick(chat(), cut, FACTS),
      bench.picker.pick(chat(), null, FACTS),
      bench.picker.pick(chat(), { bytes: Buffer.alloc(0), complete: true }, FACTS),
      bench.picker.pick(
        chat({ headers: [['content-encoding', 'gzip']] }),
        { bytes: Buffer.from('x'), complete: true },
        FACTS,
      ),
    ];

    for (const answer of answers) expect(answer).toMatchObject({ kind: 'pick', rank: null, body: null });
    expect(answers.map((answer) => 'destination' in answer && answer.destination.split(',')[0])).toEqual([
      at(1),
      at(1),
      at(2),
      at(2),
    ]);
    expect([edits(bench, 'done'), edits(bench, 'not_whole')]).toEqual([0, 4]);
  });

  it.each([
    [0, false, true],
    [-1, false, false],
    [-1, true, true],
  ])(
    'is told only where the body fits that names it: %i bytes to spare, full duplex %s: %s',
    (spare, duplex, tells) => {
      const written = Buffer.from('{"data_parallel_rank":0,"model":"m","messages":[]}');
      const bench = two({ config: { bodyEditLimitBytes: written.length + spare } });

      const answer = bench.ask(BODY, {}, { ...FACTS, endpointPicker: duplex });

      expect(answer).toMatchObject(tells ? { rank: 0, body: written } : { rank: null, body: null });
      expect([edits(bench, 'done'), edits(bench, 'not_whole')]).toEqual(tells ? [1, 0] : [0, 1]);
    },
  );

  it('a worker that is a whole engine gets the body as it came', () => {
    const answer = new PickerBench().ready(1, 2).pick(BODY);

    expect(answer).toMatchObject({ rank: null, body: null, maxRetries: null });
  });

  it('is asked for its body for that alone, where routing needs none', () => {
    const bench = two({ keys: { override: false } });
    const plain = new PickerBench({ keys: { override: false } }).ready(1);

    expect(bench.picker.plan(chat())).toEqual({ readBody: true, reason: 'worker_mutates_body' });
    expect(plain.picker.plan(chat())).toEqual({ readBody: false, reason: 'header_only' });
    expect(bench.picker.plan(chat({ endOfStream: true }))).toEqual({ readBody: false, reason: 'no_body' });
    expect(bench.picker.plan(chat({ path: '/v1/audio/transcriptions' }))).toEqual({
      readBody: false,
      reason: 'not_json',
    });
  });
});

describe('sticky-sessions 0.3 a rank is a worker of its own', () => {
  it('a conversation stays on its rank', () => {
    const bench = two({ keys: { override: true } });
    const first = bench.pick({ ...BODY, rid: 'a_t1' });
    bench.pick({ ...BODY, rid: 'b_t1' });
    bench.end(first.pickId, 1, { workerId: urlOf(1), rank: first.rank });

    for (let turn = 2; turn < 6; turn++) {
      const { destination, rank, pickId } = bench.pick({ ...BODY, rid: `a_t${turn}` });
      expect([destination.split(',')[0], rank]).toEqual([first.destination.split(',')[0], first.rank]);
      bench.end(pickId, 1, { workerId: urlOf(1), rank });
    }
    expect(bench.metrics.pinMoves.cell('memory').value).toBe(0);
  });

  it('a pin moves to the same rank of the engine that served', () => {
    const bench = two({ keys: { override: true } });
    bench.pick({ ...BODY, rid: 'x' });
    const { pickId, destination, rank } = bench.pick({ ...BODY, rid: 'a' });
    expect([destination, rank]).toEqual([at(1, 2), 1]);
    bench.end(pickId, 2, { workerId: urlOf(2), servedAddress: at(2), rank: 1, attempts: 2 });

    expect(bench.pick({ ...BODY, rid: 'a' })).toMatchObject({ destination: at(2, 1), rank: 1 });
  });

  it('what runs counts on the rank, also when the log names the engine', () => {
    const bench = two();
    const loads = () => bench.registry.current.workers.map(({ load }) => load.requests);
    bench.pick(BODY);
    const { pickId } = bench.pick(BODY);
    expect(loads()).toEqual([1, 1, 0, 0]);

    bench.ends.alive(pickId, urlOf(1), at(1), 200, bench.now);
    expect(loads()).toEqual([1, 1, 0, 0]);
    bench.ends.alive(pickId, urlOf(2), at(2), 200, bench.now);
    expect(loads()).toEqual([1, 0, 0, 1]);
    bench.end(pickId, 2, { workerId: urlOf(2) });
    expect(loads()).toEqual([1, 0, 0, 0]);
  });
});

describe('sticky-sessions 11.4 fallbacks of a rank', () => {
  it('are that rank of other engines: the body names it there, too', () => {
    const bench = new PickerBench().engine(1, 2).engine(2, 2).engine(3, 2);

    const lists = [0, 1, 2, 3, 4, 5].map(() => bench.pick(BODY).destination);

    for (const list of lists) expect(new Set(list.split(',')).size).toBe(3);
    expect(bench.pick(BODY).maxRetries).toBeNull();
  });

  it('never one that lacks the rank, which Envoy may not draw either', () => {
    const bench = new PickerBench().engine(1, 3).engine(2, 2);

    const picks = [0, 1, 2, 3, 4].map(() => bench.pick(BODY));

    expect(picks.map(({ destination, rank, maxRetries }) => [destination, rank, maxRetries])).toEqual([
      [at(1, 2), 0, null],
      [at(1, 2), 1, null],
      [at(1), 2, 0],
      [at(2, 1), 0, null],
      [at(2, 1), 1, null],
    ]);
  });

  it('not the other rank of a pin, though it may serve the key', () => {
    const bench = new PickerBench({ keys: { override: true }, mode: 'random' }).engine(1, 3).engine(2, 2);
    bench.local.put('7:unknown:s:k', [`${urlOf(1)}@2`, `${urlOf(2)}@0`], 0, bench.now);

    expect(bench.pick({ messages: [], rid: 'k' })).toMatchObject({ destination: at(1), rank: 2 });
  });

  it('Envoy is not told to retry more often than its route does', () => {
    const bench = new PickerBench({ config: { routeRetries: 1 } }).engine(1, 2).engine(2, 2).engine(3, 2).engine(4, 1);

    expect(bench.pick(BODY)).toMatchObject({ maxRetries: 1 });
  });

  it('a whole engine may be followed by one with ranks, named once: none is told', () => {
    const bench = new PickerBench({ routing: { fallbacks: 4 } }).ready(1).engine(2, 3);

    expect(bench.pick(BODY)).toMatchObject({ destination: at(1, 2), rank: null, maxRetries: null });
  });
});

describe('decisions 3 a strict target', () => {
  const target = (value: string) => ({ headers: [['x-smg-target-worker', value]] as const });

  it.each([
    ['1', 1, 1],
    ['2', 2, 0],
    [`${urlOf(2)}@1`, 2, 1],
    ['10.0.0.2:8000@1', 2, 1],
    ['10.0.0.2:8000', 2, 0],
  ])('%s is rank %#', (value, n, rank) => {
    const answer = two({ policy: 'consistent_hashing' }).pick(BODY, target(value));

    expect(answer).toMatchObject({ destination: at(n), strict: true, maxRetries: 0, rank });
    expect(told(answer)).toBe(rank);
  });
});
