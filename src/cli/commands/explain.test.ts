import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminBench } from '../../../test/support/admin-bench.ts';
import { PickerBench, urlOf } from '../../../test/support/picker-bench.ts';
import { Explainer } from '../../explain/explainer.ts';
import { runProgram } from '../program.ts';
import { explainCommand } from './explain.ts';

const A = urlOf(1);
const B = urlOf(2);

describe('interface 2 and 9 explain, against the admin API', () => {
  const admin = new AdminBench();
  const bench = new PickerBench({ policy: 'round_robin', keys: { override: true } });
  const folder = mkdtempSync(join(tmpdir(), 'explain-'));
  const file = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    bench.ready(1, 2, 3);
    bench.down(3);
    const { picker, registry: fleet, pins } = bench;
    bench.pick({ rid: 'conv' });
    bench.now += 2000;
    const explainer = new Explainer({ picker, fleet, pins, clock: () => bench.now });
    await admin.open({ explainer });
  });
  afterAll(async () => {
    await admin.close();
    bench.registry.close();
    rmSync(folder, { recursive: true });
  });

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
    const code = await runProgram([explainCommand], ['explain', ...words, '--admin', admin.base], shell);
    return { code, ...told };
  }

  const lines = (out: string) => out.split('\n').map((line) => line.split(/ {2,}/));

  it('tells where to, why, the key, the pin and each worker', async () => {
    const body = file('body.json', '{"rid":"conv_t2","messages":[]}');

    const { code, out } = await run('--body', body);

    expect(code).toBe(0);
    expect(lines(out)).toEqual([
      ['placed', A],
      ['why', expect.stringMatching(/^Its key was pinned to this worker/)],
      ['then', B],
      ['body', 'read, 31 bytes (routing_key_override)'],
      ['took', '0 ms to read, 0 ms to decide'],
      ['model', 'unknown'],
      ['policy', 'round_robin under the sticky override: occupied_hit'],
      [
        'key',
        expect.stringMatching(/^from rid, hash [0-9a-f]{12}, without its _t2; keeps the conversation on a worker$/),
      ],
      ['pin', `${A} (1 of 2 in flight), used 2 s ago; stays`],
      [''],
      ['WORKER', 'PLACE', 'ELIGIBLE', 'IN FLIGHT', 'TURN'],
      [A, 'picked', 'yes', '1', '1'],
      [B, 'fallback 1', 'yes', '0', '0'],
      [urlOf(3), 'no: not_ready', '0', '-'],
      [''],
    ]);
  });

  it('takes method, path and headers', async () => {
    const flags = [
      '-X',
      'GET',
      '--path',
      '/v1/models?x=1',
      '-H',
      'X-SMG-Routing-Key: a:b',
      '-H',
      'x-smg-routing-key: c',
    ];
    const answer = JSON.parse((await run(...flags, '--json')).out);

    expect(answer).toMatchObject({
      result: 'placed',
      worker_id: B,
      body: { bytes: 0, read: false, reason: 'no_body' },
      legs: [{ branch: 'vacant', key: { source: 'header', use: 'pin' }, pin: { held: false, after: 'written' } }],
    });
    expect(bench.local.size).toBe(1);
  });

  it('tells of a refusal', async () => {
    const { code, out } = await run('--body', file('bad.json', '{"rid":7}'));

    expect(code).toBe(0);
    expect(lines(out).slice(0, 3)).toEqual([
      ['refused', '400 json_parse_error'],
      ['why', expect.stringMatching(/^Refused: the body is no JSON object/)],
      ['message', expect.stringMatching(/rid/)],
    ]);
  });

  it.each([
    [
      ['-H', 'no colon'],
      2,
      /option '-H, --header <name: value>' argument 'no colon' is invalid. expected "name: value"/,
    ],
    [['-H', ': empty'], 2, /expected "name: value"/],
    [['--path', 'nowhere'], 1, /path: expected a text that begins with "\/" \(400 bad_request\)/],
    [['-X', 'P OST'], 1, /method: expected/],
    [['--body', '/does/not/exist'], 2, /--body \/does\/not\/exist: cannot be read: ENOENT/],
    [['--bogus'], 2, /unknown option '--bogus'/],
  ])('%j is refused', async (words, code, message) => {
    const result = await run(...words);

    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toMatch(message);
  });

  it('refuses a body that is no text', async () => {
    const { code, err } = await run('--body', file('binary', Buffer.from([0xff, 0xfe])));

    expect(code).toBe(2);
    expect(err).toMatch(/--body \S+: expected text in UTF-8/);
  });

  it('shows at most 20 workers of many, the picked one among them', async () => {
    const many = new PickerBench();
    many.ready(...Array.from({ length: 60 }, (_, i) => i + 1));
    const { picker, registry: fleet, pins } = many;
    await admin.open({ explainer: new Explainer({ picker, fleet, pins, clock: () => 0 }) });

    const { out } = await run();

    const rows = lines(out);
    expect(rows.filter(([name]) => name?.startsWith('http://'))).toHaveLength(20);
    expect(rows.find(([, place]) => place === 'picked')?.[0]).toBe(rows[0]?.[1]);
    expect(out).toMatch(/\nand 40 more \(--json has all\)\n$/);
    many.registry.close();
  });
});
