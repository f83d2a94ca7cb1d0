import { describe, expect, it } from 'vitest';
import { chat, FACTS, PickerBench } from '../../test/support/picker-bench.ts';

const at = (n: number): string => `10.0.0.${n}:8000`;

describe('what must be read', () => {
  const rows: [string, Parameters<typeof chat>[0], object][] = [
    ['a body that may hold a rid', {}, { readBody: true, reason: 'routing_key_override' }],
    ['no body at all', { endOfStream: true }, { readBody: false, reason: 'no_body' }],
    ['an upgrade', { headers: [['upgrade', 'websocket']] }, { readBody: false, reason: 'no_body' }],
    ['gRPC', { headers: [['content-type', 'application/grpc']] }, { readBody: false, reason: 'no_body' }],
    ['gzip', { headers: [['content-encoding', 'gzip']] }, { readBody: false, reason: 'not_json' }],
    ['a form', { headers: [['content-type', 'multipart/form-data']] }, { readBody: false, reason: 'not_json' }],
    ['another path', { path: '/metrics' }, { readBody: false, reason: 'not_json' }],
    ['an endpoint without rid', { path: '/v1/responses' }, { readBody: false, reason: 'header_only' }],
    ['a body over the limit', { headers: [['content-length', '1001']] }, { readBody: false, reason: 'header_only' }],
  ];
  it.each(rows)('%s', (_name, parts, plan) => {
    expect(new PickerBench().ready(1).picker.plan(chat(parts))).toEqual(plan);
  });

  it('reads the body for its model where workers serve different ones (decisions 18)', () => {
    const bench = new PickerBench({ keys: { override: false } });
    bench.add(1, { models: [{ id: 'a' }] });
    bench.add(2, { models: [{ id: 'b' }] });

    expect(bench.picker.plan(chat())).toEqual({ readBody: true, reason: 'model_ambiguous' });
  });
});

describe('the model of a request whose body tells none (sticky-sessions 11.2)', () => {
  const serving = (...models: string[]) => ({ models: models.map((id) => ({ id })) });
  const fleetOf = (...models: string[]) => {
    const bench = new PickerBench({ keys: { order: 'header-first' } });
    for (const n of [1, 2, 3]) bench.add(n, serving(...models));
    return bench;
  };
  const selections = (bench: PickerBench, model: string) =>
    bench.metrics.workerSelections.cell('regular', 'http', model, 'round_robin').value;

  it.each<[string, unknown, Parameters<typeof chat>[0]]>([
    ['not read', null, {}],
    ['not JSON', Buffer.from('x'), { headers: [['content-encoding', 'gzip']] }],
    ['a path that has none', null, { path: '/v1/realtime' }],
  ])('is the only one there is: %s', (_name, body, parts) => {
    const bench = fleetOf('m');

    bench.pick(body, parts);

    expect(selections(bench, 'm')).toBe(1);
  });

  it.each<[string, string[], unknown, Parameters<typeof chat>[0]]>([
    ['two models', ['m', 'n'], null, {}],
    ['no list', [], null, {}],
    ['a body without one', ['m'], {}, {}],
  ])('is unknown: %s', (_name, models, body, parts) => {
    const bench = fleetOf(...models);

    bench.pick(body, parts);

    expect(selections(bench, 'unknown')).toBe(1);
  });

  it('scopes the pin, so that a key from a header is the same as one from a body', () => {
    const bench = fleetOf('m');

    const fromHeader = bench.pick(null, { headers: [['x-smg-routing-key', 'conv']] });
    const fromBody = bench.pick({ model: 'm', rid: 'conv' });

    expect(fromBody.destination).toBe(fromHeader.destination);
    expect(bench.metrics.manualBranches.cell('occupied_hit').value).toBe(1);
  });
});

describe('a placed request', () => {
  it('names its worker and where Envoy goes on, counts, and keeps its pin', () => {
    const bench = new PickerBench().ready(1, 2, 3);

    const first = bench.pick({ rid: 'conv_t1' });
    const second = bench.pick({ rid: 'conv_t2_r1' });

    expect(first).toMatchObject({ strict: false, pickId: 'r1-0' });
    expect(first.destination.split(',')[0]).toBe(at(1));
    expect(first.destination.split(',').toSorted()).toEqual([at(1), at(2), at(3)]);
    expect(second).toMatchObject({ destination: first.destination, pickId: 'r1-1' });
    expect(bench.worker(1).load).toMatchObject({ requests: 2, distinctKeys: 1 });
    expect(bench.metrics.manualBranches.cell('vacant').value).toBe(1);
    expect(bench.metrics.manualBranches.cell('occupied_hit').value).toBe(1);
    expect(bench.metrics.routingKeySources.cell('rid').value).toBe(2);
    expect(bench.metrics.workerSelections.cell('regular', 'http', 'unknown', 'round_robin').value).toBe(2);
  });

  it('takes the in-flight count with the decision, so that the third at once is placed again (sticky-sessions 3.9)', () => {
    const bench = new PickerBench().ready(1, 2);

    const picks = [1, 2, 3].map((turn) => bench.pick({ rid: `conv_t${turn}` }).destination.split(',')[0]);

    expect(picks).toEqual([at(1), at(1), at(2)]);
    expect(bench.metrics.manualBranches.cell('cap_respill').value).toBe(1);
  });

  it('is strict for a target worker, and tells the decision when asked to', () => {
    const bench = new PickerBench({ policy: 'consistent_hashing', config: { decisionHeader: true } }).ready(1, 2);

    const answer = bench.pick(null, { headers: [['x-smg-target-worker', '1']] });

    expect(answer).toMatchObject({ destination: at(2), strict: true });
    expect(answer.decisionHeader).toBe('branch=target_worker_hit; source=none; policy=consistent_hashing');
  });

  it('names no key in the decision header', () => {
    const bench = new PickerBench({ config: { decisionHeader: true } }).ready(1);

    expect(bench.pick({ rid: 'secret' }).decisionHeader).toBe('branch=vacant; source=rid; policy=round_robin');
  });

  it('refuses a strict target that a connected Envoy has not accepted (decisions 25)', () => {
    const bench = new PickerBench({ policy: 'consistent_hashing', envoyKnows: (address) => address !== at(2) }).ready(
      1,
      2,
    );

    const answer = bench.refusal(null, { headers: [['x-smg-target-worker', '1']] });

    expect(answer).toMatchObject({ status: 503, code: 'no_available_workers' });
    expect(bench.metrics.consistentHashingBranches.cell('target_worker_miss').value).toBe(1);
    expect(bench.metrics.consistentHashingBranches.cell('target_worker_hit').value).toBe(0);
    expect(bench.ledger.inFlight).toBe(0);
  });
});

describe('sticky-sessions 1.7 request id', () => {
  const rows: [string, [string, string][], string | null][] = [
    ['given: stays', [['x-request-id', 'abc']], null],
    ['given and empty: stays', [['x-request-id', '']], null],
    ['from another header: is set', [['x-correlation-id', 'id-7']], 'id-7'],
    ['none: is made', [], `chatcmpl-${'A'.repeat(24)}`],
  ];
  it.each(rows)('%s', (_name, headers, expected) => {
    expect(new PickerBench().ready(1).pick(null, { headers }).requestId).toBe(expected);
  });

  it('goes with a refusal, whatever header it came from', () => {
    const bench = new PickerBench().ready();

    expect(bench.refusal(null, { headers: [['x-request-id', 'abc']] }).requestId).toBe('abc');
  });
});

describe('refusals', () => {
  it('nobody ready: 503 (sticky-sessions 7.2)', () => {
    const bench = new PickerBench().ready(1);
    bench.down(1);

    expect(bench.refusal({ rid: 'x' })).toMatchObject({
      status: 503,
      code: 'no_available_workers',
      retryAfterSecs: null,
    });
    expect(bench.metrics.manualBranches.cell('no_healthy_workers').value).toBe(1);
    expect(bench.metrics.refusals.cell('no_available_workers').value).toBe(1);
  });

  it('a model that nobody serves: 404, or 503 for a gateway of the endpoint-picker protocol (decisions 13)', () => {
    const bench = new PickerBench();
    bench.add(1, { models: [{ id: 'a' }] });

    const body = { model: 'nope' };
    expect(bench.refusal(body)).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(bench.refusal(body).message).toContain("'nope'");
    expect(bench.refusal(body, {}, { ...FACTS, endpointPicker: true }).status).toBe(503);
  });

  it('repeats no more than the beginning of a long name', () => {
    const bench = new PickerBench();
    bench.add(1, { models: [{ id: 'a' }] });

    expect(bench.refusal({ model: 'm'.repeat(100_000) }).message.length).toBeLessThan(400);
  });

  it('never makes a series of the name of an unknown model', () => {
    const bench = new PickerBench();
    bench.add(1, { models: [{ id: 'a' }] });

    bench.refusal({ model: 'client text' });

    const models: string[] = [];
    bench.metrics.routerRequestErrors.forEach((labels) => {
      models.push(labels[3] ?? '');
    });
    expect(models).toContain('other');
    expect(models).not.toContain('client text');
  });

  it('--error-style beats the kind of stream', () => {
    const bench = new PickerBench({ config: { errorStyle: 'smg' } });
    bench.add(1, { models: [{ id: 'a' }] });

    expect(bench.refusal({ model: 'nope' }, {}, { ...FACTS, endpointPicker: true }).status).toBe(404);
  });

  const bad: [string, Buffer][] = [
    ['cut short', Buffer.from('{"rid":"x')],
    ['no object', Buffer.from('[1]')],
    ['rid of a wrong type', Buffer.from('{"rid":7}')],
    ['rid twice', Buffer.from('{"rid":"a","rid":"b"}')],
  ];
  it.each(bad)('a bad body (%s): 400, never a pin (decisions 35)', (_name, body) => {
    const bench = new PickerBench().ready(1);

    expect(bench.refusal(body, { headers: [['x-smg-routing-key', 'h']] })).toMatchObject({
      status: 400,
      code: 'json_parse_error',
    });
    expect(bench.pins.size).toBe(0);
    expect(bench.ledger.opened).toBe(0);
  });

  it('a body over the limit: 413, by its declared length or seen whole (decisions 12)', () => {
    const bench = new PickerBench().ready(1);
    const large = { text: 'x'.repeat(1000) };

    expect(bench.refusal(null, { headers: [['content-length', '1001']] })).toMatchObject({ status: 413 });
    expect(bench.refusal(large)).toMatchObject({ status: 413, code: 'request_body_too_large' });
    expect(bench.pick(null, { headers: [['content-length', '1000']] }).kind).toBe('pick');
  });
});

describe('bodies that tell nothing (decisions 35)', () => {
  const rows: [string, [string, string][], Buffer, 'empty' | 'encoded' | 'not_json'][] = [
    ['empty', [], Buffer.alloc(0), 'empty'],
    ['encoded', [['content-encoding', 'gzip']], Buffer.from([31, 139, 8]), 'encoded'],
    ['not JSON by its type', [['content-type', 'text/plain']], Buffer.from('{"rid":7}'), 'not_json'],
    [
      'not JSON, with an encoding that is none',
      [
        ['content-type', 'text/plain'],
        ['content-encoding', 'identity'],
      ],
      Buffer.from('hi'),
      'not_json',
    ],
  ];
  it.each(rows)('%s: placed by headers and counted', (_name, headers, body, reason) => {
    const bench = new PickerBench().ready(1, 2);

    bench.pick(body, { headers: [...headers, ['x-smg-routing-key', 'h']] });

    expect(bench.metrics.opaqueBodies.cell(reason).value).toBe(1);
    expect(bench.metrics.routingKeySources.cell('header').value).toBe(1);
  });

  it('reads keys of other members, and scans for them only', () => {
    const keys = { sources: ['body:/metadata/user', 'headers'] };
    const bench = new PickerBench({ keys, config: { decisionHeader: true } }).ready(1, 2);
    const body = { metadata: { user: 'u_t1' } };

    const first = bench.pick(body);

    expect(bench.picker.plan(chat()).readBody).toBe(true);
    expect(first.decisionHeader).toBe('branch=vacant; source=body; policy=round_robin');
    expect(bench.pick({ metadata: { user: 'u_t2' }, rid: 'other' }).destination).toBe(first.destination);
    expect(bench.pick({ metadata: { user: [] } }, { headers: [['x-smg-routing-key', 'h']] }).decisionHeader).toBe(
      'branch=vacant; source=header; policy=round_robin',
    );
    expect(bench.metrics.routingKeyPlaces.cell('body').value).toBe(2);
    expect(bench.metrics.routingKeySources.cell('rid').value).toBe(2);
  });

  it('keeps a key of any source out of the log', () => {
    const sources = ['agents', 'cookie:sid', 'query:k', 'body:/user'];
    const bench = new PickerBench({ keys: { sources }, logLevel: 'debug' }).ready(1, 2);

    bench.pick(null, { headers: [['x-session-id', 's3cret-1']] });
    bench.pick(null, { headers: [['cookie', 'sid=s3cret-2']] });
    bench.pick(null, { path: '/v1/chat/completions?k=s3cret-3' });
    bench.pick({ user: 's3cret-4' });

    expect(bench.logged.filter((line) => line.includes('keyHash'))).toHaveLength(4);
    expect(bench.logged.join()).not.toContain('s3cret');
  });

  it('takes what stands in a prefix (decisions 14)', () => {
    const bench = new PickerBench().ready(1, 2);

    bench.picker.pick(chat(), { bytes: Buffer.from('{"rid":"p_t1","messages":[{"con'), complete: false }, FACTS);
    bench.picker.pick(chat(), { bytes: Buffer.from('{"messages":[{"con'), complete: false }, FACTS);

    expect(bench.metrics.partialBodies.cell().value).toBe(2);
    expect(bench.metrics.routingKeySources.cell('rid').value).toBe(1);
  });
});

describe('a failure inside', () => {
  it('lets the request pass, counted and told', () => {
    const boom = new Error('boom');
    const bench = new PickerBench({
      router: (real) => ({
        policies: real.policies,
        bodyNeed: () => null,
        afterServed: () => null,
        pinKeys: () => [],
        decide: () => {
          throw boom;
        },
      }),
    }).ready(1);

    expect(bench.ask(null)).toEqual({ kind: 'pass' });
    expect(bench.failures).toEqual([boom]);
    expect(bench.metrics.passes.cell('internal_error').value).toBe(1);
  });

  it('an empty fleet before the sources were read is no fact: the request passes', () => {
    const bench = new PickerBench();

    expect(bench.ask(null)).toEqual({ kind: 'pass' });
    expect(bench.metrics.passes.cell('not_settled').value).toBe(1);

    bench.registry.markSettled();
    expect(bench.refusal(null).status).toBe(503);
  });

  it('workers that were not judged yet are no fact either; a failed probe is', () => {
    const bench = new PickerBench();
    bench.announce(1);
    expect(bench.ask(null)).toEqual({ kind: 'pass' });

    bench.down(1);
    expect(bench.refusal(null)).toMatchObject({ status: 503, code: 'no_available_workers' });
  });

  it('a strict target is refused all the same: nobody else may serve it', () => {
    const bench = new PickerBench({ policy: 'consistent_hashing' });
    bench.announce(1);
    const target = { headers: [['x-smg-target-worker', '0']] } as const;
    expect(bench.refusal(null, target)).toMatchObject({ status: 503, code: 'no_available_workers' });
  });
});

describe('an id that Envoy was told before', () => {
  it('is that of the pick, and of no other', () => {
    const bench = new PickerBench().ready(1);
    const pickId = bench.picker.reservePickId();

    expect(bench.ask(null, {}, { ...FACTS, pickId })).toMatchObject({ kind: 'pick', pickId });
    expect(bench.ledger.get(pickId)?.released).toBe(false);
    expect(bench.pick(null).pickId).not.toBe(pickId);
  });
});

describe('a stream that ends', () => {
  it('before the answer reached Envoy: nothing was dispatched', () => {
    const bench = new PickerBench().ready(1);

    bench.picker.abandon(bench.pick(null).pickId);

    expect(bench.worker(1).load.requests).toBe(0);
    expect(bench.ledger.releases.stream).toBe(1);
  });

  it('after a body pick: released once, also when the log entry follows', () => {
    const bench = new PickerBench().ready(1);
    const { pickId } = bench.pick({ rid: 'a' });

    bench.feedback.streamEnded(pickId);
    bench.feedback.streamEnded(pickId);
    bench.end(pickId, 1);

    expect(bench.worker(1).load.requests).toBe(0);
    expect(bench.ledger.releases).toMatchObject({ stream: 1, end: 0 });
    expect(bench.metrics.logEntries.cell('end').value).toBe(1);
  });
});

it('a reconfigured picker decides by the new rules from the next request on', () => {
  const bench = new PickerBench().ready(1);
  const other = new PickerBench({ config: { maxPayloadBytes: 10 } });

  bench.picker.reconfigure({ ...other.config, requestIdHeaders: ['x-trace'] });

  expect(bench.refusal({ text: 'longer than ten' }, { headers: [['x-trace', 't']] })).toMatchObject({
    status: 413,
    requestId: 't',
  });
});
