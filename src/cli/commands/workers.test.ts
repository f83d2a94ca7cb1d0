import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../program.ts';
import { workersCommand } from './workers.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

const ONE = {
  id: 'http://a:1',
  url: 'http://a:1',
  name: 'one',
  status: 'ready',
  models: [{ id: 'm1' }, { id: 'm2' }],
  load: 3,
  routing_keys: 2,
  source: 'flags',
  last_probe: { ok: true, detail: '200' },
};
const TWO = {
  id: 'http://b:1',
  url: 'http://b:1',
  name: 'evil\u001b[2J',
  status: 'pending',
  models: [],
  load: 0,
  routing_keys: 0,
  source: 'api',
  last_probe: null,
};

describe('interface 2 and 9 workers', () => {
  let server: Server;
  let admin: string;
  let seen: Seen[] = [];
  let answers: { status: number; body: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      void bodyOf(request).then((text) => {
        const { method = '', url = '', headers } = request;
        seen.push({ method, url, authorization: headers.authorization, body: text === '' ? null : JSON.parse(text) });
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json' }).end(answer?.body);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    seen = [];
    answers = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function answer(status: number, body: unknown): void {
    answers.push({ status, body: JSON.stringify(body) });
  }

  async function run(...words: string[]) {
    const told = { out: '', err: '' };
    const code = await runProgram([workersCommand], ['workers', ...words], {
      env: {},
      out: (text) => {
        told.out += text;
      },
      err: (text) => {
        told.err += text;
      },
    });
    return { code, ...told };
  }

  it('list shows a table', async () => {
    answer(200, { workers: [ONE, { ...TWO, models: [{ id: 'x\u001b[2J' }] }], total: 2 });

    const { code, out } = await run('list', '--admin', admin);

    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'STATUS', 'MODELS', 'LOAD', 'KEYS', 'SOURCE', 'LAST PROBE'],
      ['http://a:1', 'ready', 'm1,m2', '3', '2', 'flags', '200'],
      ['http://b:1', 'pending', 'x\\u001b[2J', '0', '0', 'api', '-'],
      [''],
    ]);
    expect(seen).toEqual([{ method: 'GET', url: '/workers', authorization: undefined, body: null }]);
  });

  it('list cuts long cells, but no id', async () => {
    const id = `http://${'a'.repeat(80)}:1`;
    const long = { id: 'm'.repeat(200) };
    answer(200, { workers: [{ ...ONE, id, models: [long], last_probe: { detail: `${'é'.repeat(59)}xy` } }] });

    const { out } = await run('list', '--admin', admin);

    const row = out.split('\n')[1]?.split(/ {2,}/);
    expect(row?.[0]).toBe(id);
    expect(row?.[2]).toBe(`${'m'.repeat(59)}…`);
    expect(row?.[6]).toBe(`${'é'.repeat(59)}…`);
  });

  it('list --json prints the answer', async () => {
    answer(200, { workers: [ONE], total: 1 });

    const { out } = await run('list', '--json', '--admin', admin);

    expect(JSON.parse(out)).toEqual({ workers: [ONE], total: 1 });
  });

  it('get hides the slashes of an id in the path', async () => {
    answer(200, ONE);

    const { code, out } = await run('get', 'http://a:1/', '--admin', admin);

    expect(code).toBe(0);
    expect(seen[0]?.url).toBe('/workers/http%3A%2F%2Fa%3A1');
    expect(out).toMatch(/^status +ready$/m);
    expect(out).toMatch(/^models +\[{"id":"m1"},{"id":"m2"}\]$/m);
  });

  it('add sends the worker', async () => {
    answer(202, { status: 'accepted', worker_id: 'http://a:1', message: 'Worker is being added' });

    const { code, out } = await run(
      ...[
        'add',
        'http://a:1',
        '--admin',
        admin,
        '--name',
        'one',
        '--model',
        'm1',
        'm2',
        '--priority',
        '7',
        '--cost',
        '1.5',
      ],
      ...['--label', 'zone=x', 'team=y=z'],
    );

    expect({ code, out }).toEqual({ code: 0, out: 'Worker is being added: http://a:1\n' });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/workers',
        authorization: undefined,
        body: {
          url: 'http://a:1',
          name: 'one',
          models: [{ id: 'm1' }, { id: 'm2' }],
          priority: 7,
          cost: 1.5,
          labels: { zone: 'x', team: 'y=z' },
        },
      },
    ]);
  });

  it('add --wait asks until the worker is ready', async () => {
    answer(202, { worker_id: 'http://b:1', message: 'Worker is being added' });
    answer(200, TWO);
    answer(200, { ...TWO, status: 'ready' });

    const { code, out } = await run('add', 'http://b:1', '--wait', '30', '--admin', admin);

    expect({ code, out }).toEqual({ code: 0, out: 'Worker is ready: http://b:1\n' });
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('add --wait gives up in time, with the last probe', async () => {
    answer(202, { worker_id: 'http://b:1', message: 'Worker is being added' });
    answer(200, { ...TWO, last_probe: { ok: false, detail: 'connection refused' } });

    const { code, err } = await run('add', 'http://b:1', '--wait', '0.05', '--admin', admin);

    expect({ code, err }).toEqual({
      code: 1,
      err: 'smg-envoy: http://b:1 is pending after 0.05 s; its last probe: connection refused\n',
    });
  });

  it.each([
    ['drain', 'POST', '/workers/http%3A%2F%2Fa%3A1/drain'],
    ['undrain', 'POST', '/workers/http%3A%2F%2Fa%3A1/undrain'],
    ['remove', 'DELETE', '/workers/http%3A%2F%2Fa%3A1'],
  ])('%s is %s %s', async (name, method, url) => {
    answer(202, { worker_id: 'http://a:1', message: 'Done so' });

    expect(await run(name, 'http://a:1', '--admin', admin)).toEqual({ code: 0, out: 'Done so: http://a:1\n', err: '' });
    expect(seen).toEqual([{ method, url, authorization: undefined, body: null }]);
  });

  it('sends the key of --admin-key-file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-key-'));
    try {
      writeFileSync(join(folder, 'key'), 's3cret\n');
      answer(200, { workers: [] });

      await run('list', '--admin', admin, '--admin-key-file', join(folder, 'key'));

      expect(seen[0]?.authorization).toBe('Bearer s3cret');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    [
      404,
      { error: { message: 'No worker has that id', code: 'worker_not_found' } },
      'No worker has that id (404 worker_not_found)',
    ],
    [401, { error: { message: 'A key is needed', code: 'unauthorized' } }, 'A key is needed (401 unauthorized)'],
    [500, 'nonsense', 'answered with status 500 and not as the admin API does'],
  ])('status %d ends with 1 and the message of the envelope', async (status, body, message) => {
    answer(status, body);

    const { code, err, out } = await run('get', 'http://a:1', '--admin', admin);

    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
  });

  it('something else behind the address is no success', async () => {
    answers.push({ status: 200, body: '<html>' });

    expect((await run('list', '--admin', admin)).code).toBe(1);
  });

  it.each([
    [['list'], 'no workers'],
    [['list', '--json'], 'no workers'],
    [['get', 'http://a:1'], 'no id'],
    [['add', 'http://a:1'], 'no worker_id'],
    [['drain', 'http://a:1'], 'no worker_id'],
    [['remove', 'http://a:1'], 'no worker_id'],
  ])('nor is other JSON: %j', async (words, lack) => {
    answer(200, { hello: 'world' });

    expect(await run(...words, '--admin', admin)).toEqual({
      code: 1,
      out: '',
      err: `smg-envoy: ${admin} does not answer as the admin API does: ${lack}\n`,
    });
  });

  it('remove --help tells what becomes of running requests', async () => {
    const { code, out } = await run('remove', '--help');

    expect(code).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'its running requests end by themselves, and it is gone after --drain-settle-secs',
    );
  });

  it('says so when nothing listens', async () => {
    const { code, err } = await run('list', '--admin', 'http://127.0.0.1:1');

    expect(code).toBe(1);
    expect(err).toMatch(
      /^smg-envoy: no answer from http:\/\/127\.0\.0\.1:1: .*; is the service running there\? \(--admin URL names another\)\n$/,
    );
  });

  it.each([
    [['list', '--admin', 'localhost:9003'], /--admin localhost:9003: expected an http:\/\/ or https:\/\/ URL/],
    [['list', '--admin-key-file', '/nowhere'], /--admin-key-file \/nowhere: cannot be read/],
    [['get'], /missing required argument 'id'/],
    [['add', 'http://a:1', '--cost', 'x'], /--cost .*'x' is invalid/],
    [['add', 'http://a:1', '--label', 'x'], /--label x: expected key=value/],
    [['bogus'], /unknown command 'bogus'/],
  ])('%j is wrong usage', async (words, message) => {
    const { code, err } = await run(...words);

    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
