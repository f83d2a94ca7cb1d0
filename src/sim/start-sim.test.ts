import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { addressAfter } from './places.ts';
import { type Sim, type SimOptions, startSim } from './start-sim.ts';

let sim: Sim | undefined;
afterEach(async () => sim?.close());

async function one(options: SimOptions = {}) {
  sim = await startSim({ count: 1, tokens: 3, ...options });
  const worker = sim.workers[0]!;
  const post = (path: string, body: string | object, headers: Record<string, string> = {}) =>
    fetch(worker.url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  return { worker, post };
}

const events = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => block.slice(block.indexOf('data: ') + 6));

describe('policies 4.3, 4.4 engines that are split', () => {
  const CHAT = '/v1/chat/completions';
  const WANTS = { do_remote_decode: true, do_remote_prefill: false };

  it.each([
    ['a prefill of vLLM names its cache', { kv_transfer_params: WANTS }, null, { remote_engine_id: 'sim-1' }],
    [
      'its decode tells whose it is',
      { kv_transfer_params: { do_remote_prefill: true, remote_engine_id: 'e' } },
      'e',
      null,
    ],
    [
      'by Mooncake where it is',
      { kv_transfer_params: { do_remote_prefill: true, remote_bootstrap_addr: 'http://p:8998' } },
      'http://p:8998',
      null,
    ],
    ['SGLang where its legs meet', { bootstrap_host: 'p', bootstrap_port: 9001 }, 'p:9001', null],
    ['one that is not split', {}, null, null],
  ])('%s', async (_, body, prefill, cache) => {
    const { post } = await one();
    const answer = await post(CHAT, body);
    expect(answer.headers.get('x-sim-prefill')).toBe(prefill);
    const { kv_transfer_params: told = null } = (await answer.json()) as { kv_transfer_params?: object };
    if (cache === null) expect(told).toBeNull();
    else expect(told).toMatchObject(cache);
  });

  it.each(['sim', 'vllm', 'sglang'])('says that it is %s', async (engine) => {
    const { worker } = await one({ engine });
    const list = (await (await fetch(`${worker.url}/v1/models`)).json()) as { data: object[] };
    expect(list.data).toEqual([expect.objectContaining({ owned_by: engine })]);
  });
});

describe('endpoints answer in the shape of their API', () => {
  it.each([
    ['/v1/chat/completions', { object: 'chat.completion', model: 'm' }],
    ['/v1/completions', { object: 'text_completion', model: 'm' }],
    ['/v1/responses', { object: 'response', status: 'completed' }],
    ['/v1/messages', { type: 'message', role: 'assistant' }],
    ['/v1/messages/count_tokens', { input_tokens: expect.any(Number) }],
    ['/v1/embeddings', { object: 'list', data: [expect.objectContaining({ object: 'embedding' })] }],
    ['/v1/classify', { object: 'list', data: [expect.objectContaining({ label: 'LABEL_0' })] }],
    ['/rerank', { results: [expect.objectContaining({ index: 0 })] }],
    ['/v1/rerank', { results: [expect.objectContaining({ index: 0 })] }],
    ['/generate', { text: 'sim-1 says word-1 word-2' }],
  ])('%s', async (path, shape) => {
    const { post } = await one();

    const answer = await post(path, { model: 'm', input: 'x' });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-sim-worker')).toBe('sim-1');
    expect(await answer.json()).toMatchObject(shape);
  });

  it.each([
    ['/v1/chat/completions', '[DONE]'],
    ['/v1/completions', '[DONE]'],
    ['/generate', '[DONE]'],
    ['/v1/responses', expect.stringContaining('response.completed')],
    ['/v1/messages', expect.stringContaining('message_stop')],
  ])('%s streams one event a token', async (path, last) => {
    const { worker, post } = await one({ tokenMs: 1 });

    const answer = await post(path, { model: 'm', stream: true });
    const seen = events(await answer.text());

    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(seen.at(-1)).toEqual(last);
    expect(seen.filter((event) => event.includes('word-')).length).toBeGreaterThanOrEqual(2);
    expect(worker.seen).toMatchObject({ requests: 1, streams: 1, tokens: 3 });
  });

  it('max_tokens shortens the answer', async () => {
    const { post } = await one();
    const answer = (await (await post('/generate', { max_tokens: 1 })).json()) as { text: string };
    expect(answer.text).toBe('sim-1 says');
  });

  it('knows nothing else', async () => {
    const { post } = await one();
    expect((await post('/v1/unknown', {})).status).toBe(404);
  });
});

describe('probes', () => {
  it('/health and /v1/models follow their knobs', async () => {
    const { worker } = await one({ models: ['a', 'b'], healthStatus: 500 });

    const models = (await (await fetch(`${worker.url}/v1/models`)).json()) as { data: { id: string }[] };

    expect(models.data.map((model) => model.id)).toEqual(['a', 'b']);
    expect((await fetch(`${worker.url}/health`)).status).toBe(500);
    expect(worker.seen.probes).toBe(2);
  });

  it('/metrics reports load as vLLM does', async () => {
    const { worker } = await one({ waiting: 7, kvUsage: 0.5 });
    const text = await (await fetch(`${worker.url}/metrics`)).text();
    expect(text).toContain('vllm:num_requests_waiting{model_name="sim-model",engine="0"} 7\n');
    expect(text).toContain('vllm:kv_cache_usage_perc{model_name="sim-model",engine="0"} 0.5\n');
    expect(text).toContain('vllm:num_requests_running{model_name="sim-model",engine="0"} 0\n');
  });
});

describe('injected failures', () => {
  it('fails with the wanted status', async () => {
    const { worker, post } = await one({ failRate: 1, failStatus: 429 });
    expect((await post('/generate', {})).status).toBe(429);
    expect(worker.seen.injected).toBe(1);
  });

  it('rates follow the given randomness', async () => {
    const draws = [0.2, 0.6, 0.49];
    const { post } = await one({ failRate: 0.5, random: () => draws.shift() ?? 1 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post('/generate', {})).status);
    expect(statuses).toEqual([503, 200, 503]);
  });

  it('resets before the answer', async () => {
    const { post } = await one({ resetRate: 1 });
    await expect(post('/generate', {})).rejects.toThrow();
  });

  it.each([{ stream: true }, { stream: false }])('breaks off in the middle of %o', async (body) => {
    const { worker, post } = await one({ dropRate: 1, tokens: 50 });
    const answer = await post('/v1/chat/completions', body);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    await expect.poll(() => worker.seen.aborted).toBe(1);
  });

  it('hangs until the client leaves', async () => {
    const { worker, post } = await one({ hangRate: 1 });
    const left = new AbortController();
    const answer = fetch(`${worker.url}/generate`, { method: 'POST', body: '{}', signal: left.signal });
    await expect.poll(() => worker.seen.running).toBe(1);
    left.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => worker.seen).toMatchObject({ running: 0, aborted: 1 });
    worker.set({ hangRate: 0 });
    expect((await post('/generate', {})).status).toBe(200);
  });

  it('a killed worker refuses, a restarted one is back at its address with fresh counters', async () => {
    const { worker, post } = await one();
    await post('/generate', {});
    await worker.kill();
    await expect(post('/generate', {})).rejects.toThrow();
    await worker.restart();
    expect((await post('/generate', {})).status).toBe(200);
    expect(worker.seen.requests).toBe(1);
  });
});

describe('change at run time', () => {
  it('POST /_sim takes knobs by their JSON names', async () => {
    const { worker, post } = await one();
    expect((await post('/_sim', { fail_rate: 1, fail_status: 500 })).status).toBe(200);
    expect((await post('/generate', {})).status).toBe(500);
    expect(worker.knobs).toMatchObject({ failRate: 1, failStatus: 500 });
  });

  it.each([
    [{ fail_rate: 2 }, 'fail_rate: 2 is not a number from 0 to 1'],
    [{ tokens: 1.5 }, 'tokens: 1.5 is not an integer'],
    [{ nope: 1 }, 'nope: unknown'],
    [{ headers: ['bad\r\nx: y'] }, 'headers: '],
  ])('refuses %o', async (body, message) => {
    const { post } = await one();
    const answer = await post('/_sim', body);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toContain(message);
  });

  it('the header x-sim changes one request only', async () => {
    const { post } = await one();
    expect((await post('/generate', {}, { 'x-sim': '{"fail_rate":1,"fail_status":404}' })).status).toBe(404);
    expect((await post('/generate', {})).status).toBe(200);
  });

  it('plays a worker that forges response headers', async () => {
    const { post } = await one({ headers: ['x-smg-routed-worker-id: forged'] });
    expect((await post('/generate', {})).headers.get('x-smg-routed-worker-id')).toBe('forged');
  });
});

describe('what a request looked like', () => {
  it('digest headers describe the received bytes', async () => {
    const { worker, post } = await one({ digest: true });
    const body = JSON.stringify({ prompt: 'ü'.repeat(5000) });

    const answer = await post('/generate', body, { 'X-Mixed': 'Case' });

    const sha256 = createHash('sha256').update(body).digest('hex');
    expect(answer.headers.get('x-sim-body-sha256')).toBe(sha256);
    expect(answer.headers.get('x-sim-body-bytes')).toBe(String(Buffer.byteLength(body)));
    expect(worker.seen.last).toMatchObject({ method: 'POST', path: '/generate', sha256 });
  });
});

describe('upgrades', () => {
  it('echoes raw bytes of an unknown protocol', async () => {
    const { worker } = await one();
    const [host, port] = worker.address.split(':');
    const socket = connect(Number(port), host);
    socket.write('GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nping');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 101 .*x-sim-worker: sim-1.*\r\n\r\nping$/s);
    socket.destroy();
  });

  it('echoes masked WebSocket frames unmasked', async () => {
    const { worker } = await one();
    const [host, port] = worker.address.split(':');
    const socket = connect(Number(port), host);
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(
      `GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ${key}\r\n\r\n`,
    );
    socket.write(Buffer.from([0x81, 0x82, 1, 2, 3, 4, 'h'.charCodeAt(0) ^ 1, 'i'.charCodeAt(0) ^ 2]));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk as Buffer]);
    });
    await expect.poll(() => received.subarray(-4).toString('latin1')).toBe('\x81\x02hi');
    expect(received.toString('latin1')).toContain('sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    socket.destroy();
  });
});

describe('addresses', () => {
  it.each([
    ['127.0.0.1', 0, '127.0.0.1'],
    ['127.0.0.1', 2, '127.0.0.3'],
    ['127.0.0.255', 1, '127.0.1.0'],
    ['::1', 3, '::1'],
  ])('%s + %i = %s', (first, steps, expected) => expect(addressAfter(first, steps)).toBe(expected));

  it('spreads over addresses with one port', async () => {
    sim = await startSim({ count: 1 });
    const port = Number(sim.workers[0]!.address.split(':')[1]);
    await sim.close();
    sim = await startSim({ count: 2, host: '127.0.0.1', port, spread: 'addresses' });
    expect(sim.workers.map((worker) => worker.address)).toEqual([`127.0.0.1:${port}`, `127.0.0.2:${port}`]);
  });

  it('takes a head of 60 KB, as engines do', async () => {
    sim = await startSim({ count: 1 });
    const answer = await fetch(`${sim.urls[0]}/health`, { headers: { 'x-long': 'k'.repeat(60_000) } });
    expect(answer.status).toBe(200);
  });

  it('a taken address starts nothing', async () => {
    sim = await startSim({ count: 1, host: '127.0.0.2' });
    const port = Number(sim.workers[0]!.address.split(':')[1]);
    await expect(startSim({ count: 2, port, spread: 'addresses' })).rejects.toThrow(/EADDRINUSE/);
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  });
});

describe('policies 2.4 a data-parallel engine', () => {
  it('tells its ranks, and answers which one it was told', async () => {
    const { worker, post } = await one({ dpSize: 2 });

    expect(await (await fetch(`${worker.url}/server_info`)).json()).toMatchObject({ dp_size: 2 });
    const told = await Promise.all(
      [{ data_parallel_rank: 1 }, {}, { data_parallel_rank: 'x' }].map((body) => post('/v1/chat/completions', body)),
    );
    expect(told.map((answer) => answer.headers.get('x-sim-rank'))).toEqual(['1', 'none', '"x"']);
  });

  it('is none by default', async () => {
    const { worker, post } = await one();

    expect((await fetch(`${worker.url}/server_info`)).status).toBe(404);
    expect((await post('/generate', { data_parallel_rank: 1 })).headers.get('x-sim-rank')).toBeNull();
  });
});
