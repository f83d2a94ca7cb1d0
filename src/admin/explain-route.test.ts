import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import { Explainer } from '../explain/explainer.ts';
import { keyHash } from '../telemetry/key-hash.ts';

const SECRET = 'planted-secret-key';

describe('interface 9 POST /explain', () => {
  const admin = new AdminBench();
  const bench = new PickerBench({ policy: 'round_robin', keys: { override: true } });
  const { picker, registry: fleet, pins } = bench;
  const explainer = new Explainer({ picker, fleet, pins, clock: () => bench.now });

  beforeAll(async () => {
    bench.ready(1, 2);
    await admin.open({ explainer });
  });
  afterAll(async () => {
    await admin.close();
    bench.registry.close();
  });

  const explain = (body: unknown, headers = {}) => admin.ask('POST', '/explain', body, headers);

  it('tells where a request would go, without its key, headers or prompt', async () => {
    const { status, json, text } = await explain({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: SECRET, 'X-SMG-Routing-Key': `${SECRET}_t1` },
      body: { messages: [{ role: 'user', content: SECRET }] },
    });

    expect(status).toBe(200);
    expect(json).toMatchObject({
      result: 'placed',
      worker_id: urlOf(1),
      destination: '10.0.0.1:8000,10.0.0.2:8000',
      branch: 'vacant',
      policy: 'round_robin',
      fallbacks: [urlOf(2)],
      reason: null,
      refusal: null,
      body: { read: true, reason: 'routing_key_override', opaque: null },
      why: expect.stringMatching(/^Its key was not pinned yet/),
      legs: [
        {
          leg: 'single',
          sticky_by: 'override',
          key: { source: 'header', hash: keyHash(SECRET), dropped_suffix: '_t1', use: 'pin' },
          pin: { held: false, candidates: [], after: 'written', store: 'memory', asks_store: false },
          workers: [
            { worker_id: urlOf(1), place: 0, eligible: true, why_not: [], weights: { turn: 0 } },
            { worker_id: urlOf(2), place: 1, eligible: true, weights: { turn: 1 } },
          ],
        },
      ],
    });
    expect(text).not.toContain(SECRET);
    expect(bench.local.size).toBe(0);
    expect(bench.ledger.inFlight).toBe(0);
  });

  it('keeps to a subset, and says who is not in it', async () => {
    const { json } = await explain({ path: '/', subset: ['10.0.0.2'] });

    expect(json.worker_id).toBe(urlOf(2));
    expect(json.legs[0].workers[0].why_not).toEqual(['not_in_subset']);
  });

  it.each([
    ['nothing', '', /not valid JSON/],
    ['bad JSON', '{"path":', /not valid JSON/],
    ['a list', [], /expected an object/],
    ['null', 'null', /expected an object/],
    ['no path', {}, /^path: /],
    ['a path that is none', { path: 'v1' }, /^path: /],
    ['a method that is none', { path: '/', method: 'GET /' }, /^method: /],
    ['headers as a list', { path: '/', headers: [] }, /^headers: /],
    ['a header with a space', { path: '/', headers: { 'a b': 'x' } }, /^headers: "a b" is no name/],
    ['a header with a number', { path: '/', headers: { a: 1 } }, /^headers: a: /],
    ['a header of two lines', { path: '/', headers: { a: ['x', 'y\nz'] } }, /^headers: a: /],
    ['a subset that is none', { path: '/', subset: '10.0.0.1' }, /^subset: /],
    ['a subset of numbers', { path: '/', subset: [1] }, /^subset: /],
    ['an unknown member', { path: '/', heders: {} }, /^"heders" is no member: expected method, path/],
  ])('refuses %s', async (_, body, message) => {
    const answer = await explain(body);

    expectError(answer, 400, 'bad_request', 'Bad Request');
    expect(answer.json.error.message).toMatch(message);
  });

  it('refuses a body over 1 MiB', async () => {
    const answer = await explain({ path: '/', body: 'x'.repeat(1024 * 1024) });

    expectError(answer, 413, 'request_body_too_large', 'Payload Too Large');
  });

  it('is open to everybody who may read', async () => {
    const keyed = new AdminBench();
    await keyed.open({ explainer, keys: [{ id: 'u', name: 'u', role: 'user', key: 'k' }] });
    const answers = await Promise.all(
      [{}, { authorization: 'Bearer k' }].map((headers) => keyed.ask('POST', '/explain', { path: '/' }, headers)),
    );
    await keyed.close();

    expect(answers.map(({ status }) => status)).toEqual([401, 200]);
  });

  it('is a question, not a change: GET is not allowed, HEAD neither', async () => {
    const answer = await admin.ask('GET', '/explain');

    expectError(answer, 405, 'method_not_allowed', 'Method Not Allowed');
    expect(answer.headers.get('allow')).toBe('POST');
  });
});
