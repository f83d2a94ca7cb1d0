import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench, expectError } from '../../test/support/admin-bench.ts';
import { PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import { RING_SIZE } from '../picker/decision-ring.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import { DecisionStreams, MAX_READERS } from './decision-stream.ts';

let bench: AdminBench;
let picker: PickerBench;
let streams: DecisionStreams;
const readers: Reader[] = [];

beforeEach(async () => {
  picker = new PickerBench({ routing: { checkModel: true } }).ready(1, 2);
  streams = new DecisionStreams(picker.ring);
  bench = await new AdminBench().open({ decisions: { ring: picker.ring, streams } });
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  streams.close();
  await bench.close();
});

/** Three requests of two conversations, and one of none. */
function ask(): void {
  for (const body of [{ rid: 'talk-1_t1' }, { rid: 'talk-2_t1' }, { rid: 'talk-1_t2' }, null]) picker.pick(body);
}

async function list(query: string): Promise<{ seq: number }[]> {
  const { status, json } = await bench.ask('GET', `/decisions${query}`);
  expect(status).toBe(200);
  return json.decisions;
}

describe('interface 9 GET /decisions', () => {
  it('tells who was picked and why, without the key', async () => {
    picker.ring.wake();
    const { pickId } = picker.pick({ rid: 'talk-1_t1', model: 'm' });

    const { json, text } = await bench.ask('GET', '/decisions');

    expect(json.recording).toEqual({ mode: 'auto', since: '2026-01-01T00:00:01.000Z', size: RING_SIZE, left_out: 0 });
    expect(json.next).toBe(1);
    expect(json.decisions).toEqual([
      {
        seq: 0,
        at: '2026-01-01T00:00:01.000Z',
        duration_ms: 0,
        result: 'placed',
        pick_id: pickId,
        worker_id: urlOf(1),
        worker: urlOf(1),
        model: 'm',
        policy: 'round_robin',
        branch: 'vacant',
        policy_branch: null,
        match_ratio: null,
        key_source: 'rid',
        key_hash: keyHash('talk-1'),
        read: 'body',
        fallbacks: [urlOf(2)],
        strict: false,
        pinned: 'written',
        reason: null,
        prefill: null,
        why: 'Its key was not pinned yet; round_robin chose this worker, and the key is pinned here from now on.',
      },
    ]);
    expect(text).not.toContain('talk-1');
  });

  it('records from the first look on', async () => {
    ask();
    expect(await list('')).toEqual([]);
    ask();
    expect((await list('')).map(({ seq }) => seq)).toEqual([3, 2, 1, 0]);
  });

  it.each([
    ['?limit=2', [3, 2]],
    ['?key=talk-1', [2, 0]],
    ['?key=talk-1_t2', [2, 0]],
    [`?key_hash=${keyHash('talk-2')}`, [1]],
    [`?worker=${encodeURIComponent(urlOf(2))}`, [1]],
    ['?branch=occupied_hit', [2]],
    ['?branch=policy', [3]],
    ['?branch=vacant&key=talk-2&limit=5', [1]],
    ['?result=placed', [3, 2, 1, 0]],
    ['?result=refused', []],
    ['?key=talk', []],
  ])('filters: %s', async (query, found) => {
    picker.ring.wake();
    ask();

    expect((await list(query)).map(({ seq }) => seq)).toEqual(found);
  });

  it.each([
    ['?limit=0', 'limit "0": expected a number from 1 to 1024'],
    ['?limit=1025', 'limit "1025": expected a number from 1 to 1024'],
    ['?limit=x', 'limit "x": expected a number from 1 to 1024'],
    ['?key_hash=12', 'key_hash "12": expected 12 hex digits, as records and the log have them'],
    ['?result=good', 'result "good": expected placed, refused, passed'],
    ['?wroker=a', '"wroker" is no parameter: expected worker, branch, key_hash, key, result, limit'],
  ])('refuses %s with the place and the cure', async (query, message) => {
    const answer = await bench.ask('GET', `/decisions${query}`);

    expectError(answer, 400, 'bad_request', 'Bad Request');
    expect(answer.json.error.message).toBe(message);
  });

  it('tells that nothing is recorded when it is off', async () => {
    picker.ring.configure('off');
    ask();

    expect((await bench.ask('GET', '/decisions')).json).toMatchObject({
      decisions: [],
      recording: { mode: 'off', since: null },
    });
    expectError(await bench.ask('GET', '/decisions/stream'), 409, 'decisions_off', 'Conflict');
  });
});

/** A client that reads as events come. */
class Reader {
  text = '';
  ended = false;
  status = 0;
  readonly #request;

  constructor(path: string, headers: Readonly<Record<string, string>> = {}) {
    this.#request = request(`${bench.base}${path}`, { headers }, (response) => {
      this.status = response.statusCode ?? 0;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        this.text += chunk;
      });
      response.on('end', () => {
        this.ended = true;
      });
    });
    this.#request.on('error', () => {
      this.ended = true;
    });
    this.#request.end();
    readers.push(this);
  }

  get seqs(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
  }

  close(): void {
    this.#request.destroy();
  }
}

describe('interface 9 GET /decisions/stream', () => {
  it('sends what is asked for of the past, then what comes, and ends with the service', async () => {
    picker.ring.wake();
    ask();
    const reader = new Reader('/decisions/stream?limit=2');
    await expect.poll(() => reader.seqs).toEqual([2, 3]);
    expect(reader.text).toContain('event: recording\ndata: {"mode":"auto","since":"2026-01-01T00:00:01.000Z"}\n\n');

    ask();
    await expect.poll(() => reader.seqs).toEqual([2, 3, 4, 5, 6, 7]);
    expect(reader.text).not.toContain('talk-');

    streams.close();
    await expect.poll(() => reader.ended).toBe(true);
    expect(reader.text.endsWith('event: end\ndata: {"reason":"draining"}\n\n')).toBe(true);
    expectError(await bench.ask('GET', '/decisions/stream'), 503, 'too_many_readers', 'Service Unavailable');
  });

  it('begins with nothing of the past unless asked, and filters', async () => {
    picker.ring.wake();
    ask();
    const reader = new Reader('/decisions/stream?key=talk-1');
    await expect.poll(() => reader.text).toContain('recording');
    ask();
    await expect.poll(() => reader.seqs).toEqual([4, 6]);
  });

  it('goes on where a reader was cut off', async () => {
    picker.ring.wake();
    ask();
    const reader = new Reader('/decisions/stream', { 'last-event-id': '1' });
    await expect.poll(() => reader.seqs).toEqual([2, 3]);
    const stranger = new Reader('/decisions/stream?limit=1', { 'last-event-id': '900' });
    await expect.poll(() => stranger.seqs).toEqual([3]);
  });

  it('thins out evenly what is more than the rate, and counts it', async () => {
    const reader = new Reader('/decisions/stream?rate=10');
    await expect.poll(() => reader.text).toContain('recording');
    for (let i = 0; i < 100; i++) picker.pick(null);

    await expect
      .poll(() => reader.text)
      .toContain('event: skipped\ndata: {"overwritten":0,"sampled":90,"unrecorded":0}');
    expect(reader.seqs).toEqual([9, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
  });

  it('counts what was overwritten before it could be sent', async () => {
    const reader = new Reader('/decisions/stream?rate=1000');
    await expect.poll(() => reader.text).toContain('recording');
    for (let i = 0; i < RING_SIZE + 100; i++) picker.ring.undecided('deadline', false, picker.now);

    await expect.poll(() => reader.text).toContain('"overwritten":100,"sampled":24');
    expect(reader.seqs).toHaveLength(1000);
  });

  it('tells how many were not recorded, since there were too many at a time', async () => {
    const reader = new Reader('/decisions/stream?rate=1000');
    await expect.poll(() => reader.text).toContain('recording');
    for (let i = 0; i < 2 * RING_SIZE; i++) picker.pick(null);
    picker.now += 250;
    for (let i = 0; i < 2 * RING_SIZE; i++) picker.pick(null);

    await expect.poll(() => reader.text).toContain(`"unrecorded":${RING_SIZE}}`);
    expect((await bench.ask('GET', '/decisions')).json.recording.left_out).toBe(RING_SIZE);
  });

  it(`serves ${MAX_READERS} readers, and the next when one has left`, async () => {
    for (let i = 0; i < MAX_READERS; i++) new Reader('/decisions/stream');
    await expect.poll(() => streams.readers).toBe(MAX_READERS);
    const refused = await bench.ask('GET', '/decisions/stream');
    expectError(refused, 503, 'too_many_readers', 'Service Unavailable');
    expect(refused.headers.get('retry-after')).toBe('2');

    readers[0]!.close();
    await expect.poll(() => streams.readers).toBe(MAX_READERS - 1);
    const next = new Reader('/decisions/stream');
    await expect.poll(() => next.status).toBe(200);
  });

  it('HEAD opens no stream', async () => {
    const { status, headers } = await bench.ask('HEAD', '/decisions/stream');

    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(streams.readers).toBe(0);
  });
});
