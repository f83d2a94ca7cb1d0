import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench } from '../../../test/support/admin-bench.ts';
import { MemoryPinStore } from '../../pins/memory-pin-store.ts';
import { runProgram } from '../program.ts';
import { pinsCommand } from './pins.ts';

const A = 'http://127.0.0.1:8000';
const B = 'http://127.0.0.1:8001';

describe('interface 2 and 9 pins, against the admin API', () => {
  let bench: AdminBench;
  let pins: MemoryPinStore;

  beforeAll(async () => {
    bench = new AdminBench();
    bench.addReady(A, { models: [{ id: 'm' }] });
    bench.addReady(B, { models: [{ id: 'm' }] });
  });
  beforeEach(async () => {
    pins = new MemoryPinStore({ maxPins: 10_000 });
    await bench.open({ pins, clock: () => 2500 });
  });
  afterAll(() => bench.close());

  async function run(...words: string[]) {
    const told = { out: '', err: '' };
    const shell = {
      env: {},
      out: (text: string) => {
        told.out += text;
      },
      err: (text: string) => {
        told.err += text;
      },
    };
    const code = await runProgram([pinsCommand], ['pins', ...words, '--admin', bench.base], shell);
    return { code, ...told };
  }

  const cells = (out: string) => out.split('\n').map((line) => line.split(/ {2,}/));

  it('list shows a table', async () => {
    pins.put('1:m:s:conv\u001b[2J', [A, B], 0, 1000);
    pins.put('manual:s:x', ['http://gone:1'], 0, 2500);

    const { code, out } = await run('list');

    expect(code).toBe(0);
    expect(cells(out)).toEqual([
      ['KEY', 'MODEL', 'LEG', 'WORKER', 'CANDIDATES', 'IDLE', 'SHARED'],
      ['conv\\u001b[2J', 'm', 'single', A, `${A},${B}`, '1.5 s', 'no'],
      ['x', '-', 'single', '-', 'http://gone:1', '0 s', 'no'],
      [''],
    ]);
  });

  it('list shows tenants where there are some', async () => {
    pins.put('@4:acme:1:m:s:conv', [A], 0, 2500);
    pins.put('@-:1:m:s:conv', [A], 0, 2500);
    pins.put(`@#${'d'.repeat(22)}:1:m:s:conv`, [A], 0, 2500);

    const tenants = cells((await run('list')).out).map((row) => row[7]);

    expect(tenants).toEqual(['TENANT', 'acme', '-', `(digest ${'d'.repeat(22)})`, undefined]);
  });

  it.each([
    [[], 2500],
    [['--limit', '1'], 1],
    [['--limit', '1001'], 1001],
    [['--limit', '5000'], 2500],
  ])('list %j goes through all pages: %d', async (flags, expected) => {
    for (let i = 0; i < 2500; i++) pins.put(`1:m:s:k${i}`, [A], 0, 0);

    const { out } = await run('list', '--json', ...flags);

    const answer = JSON.parse(out) as { pins: { key: string }[] };
    expect(new Set(answer.pins.map(({ key }) => key)).size).toBe(expected);
    expect(answer).toMatchObject({ total: 2500, store: 'memory', away: false });
  });

  it('get shows one', async () => {
    const { version } = pins.put('1:m:s:a/b?', [A], 0, 0);

    const { code, out } = await run('get', 'a/b?_t2');

    expect(code).toBe(0);
    expect(out).toMatch(/^key +a\/b\?$/m);
    expect(out).toMatch(new RegExp(`^worker_id +${A}$`, 'm'));
    expect(out).toContain(`{"candidates":["${A}"],"version":${version}}`);
    expect(JSON.parse((await run('get', 'a/b?', '--json')).out)).toMatchObject({ key: 'a/b?', shared: null });
  });

  it('get takes model and leg', async () => {
    pins.put('3:n&x:s:conv', [A], 0, 0);

    expect((await run('get', 'conv', '--model', 'n&x', '--leg', 'single')).code).toBe(0);
    expect((await run('get', 'conv')).code).toBe(1);
    expect((await run('get', 'conv', '--tenant', 'acme')).err).toBe(
      'smg-envoy: tenant: needs --tenant-header (400 bad_request)\n',
    );
  });

  it('move moves it', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);

    expect(await run('move', 'conv_t1', `${B}/`)).toEqual({ code: 0, out: `Pin is moved: conv to ${B}\n`, err: '' });
    expect(pins.peek('1:m:s:conv')?.candidates).toEqual([B, A]);
  });

  it('move tells why it cannot', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);

    const { code, err } = await run('move', 'conv', 'http://nowhere:1');

    expect([code, err]).toEqual([1, 'smg-envoy: No worker has the id "http://nowhere:1" (409 pin_worker_unusable)\n']);
  });

  it('delete forgets it', async () => {
    pins.put('1:m:s:conv', [A], 0, 0);

    expect(await run('delete', 'conv')).toEqual({ code: 0, out: 'Pin is forgotten: conv\n', err: '' });
    expect(await run('delete', 'conv')).toEqual({
      code: 1,
      out: '',
      err: 'smg-envoy: No pin of the key "conv" for model "m", leg single (404 pin_not_found)\n',
    });
  });

  it.each([
    [['get'], /missing required argument 'key'/],
    [['move', 'conv'], /missing required argument 'worker-id'/],
    [['list', '--limit', '0'], /--limit .*'0' is invalid/],
    [['bogus'], /unknown command 'bogus'/],
  ])('%j is wrong usage', async (words, message) => {
    const { code, err } = await run(...words);

    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
