import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sim, startSim } from '../../src/sim/start-sim.ts';
import { chatBody, MODEL, pieces } from '../support/bodies.ts';
import { MODES as MODES_OF_ENVOY } from '../support/body-modes.ts';
import { editEnvoy, processBy } from '../support/edit-envoy.ts';
import { joinedEnvoy } from '../support/joined-envoy.ts';
import {
  type Answer,
  ask,
  type EnvoyHandle,
  envoyConfig,
  freePort,
  http2Client,
  noEnvoy,
  type Outgoing,
  ServiceProcess,
  startEnvoy,
  until,
} from '../support/services.ts';

/** Ways by which Envoy asks, each by our own configuration; BUFFERED is what an operator makes of the first. */
const MODES = ['ext_proc', 'BUFFERED', 'FULL_DUPLEX_STREAMED', 'ext_authz'] as const;
type Mode = (typeof MODES)[number];

/**
 * What decides: the ring is the same for everybody, prefixes too; pins are made by whichever mode sees a key first, and
 * followed by the others.
 */
const POLICIES = {
  ring: ['--policy', 'consistent_hashing', '--routing-key-override'],
  prefix: ['--policy', 'prefix_hash', '--prefix-token-count', '8'],
  pins: ['--policy', 'round_robin', '--routing-key-override'],
} as const;
type PolicyKind = keyof typeof POLICIES;

/** Bytes that Envoy keeps of a body. */
const LIMIT = 300_000;
/** Envoy may take in twice its limit before it stops reading, so that what is a little over it may be seen whole (envoy 4.3). */
const OVER_LIMIT = 4 * LIMIT;

interface Row {
  readonly name: string;
  readonly out: Outgoing;
  /** Speak HTTP/2. */
  readonly http2?: true;
  /** What every mode answers, where it matters: the status, and the error code of a refusal. */
  readonly status?: string;
  /** Any worker will do, since nothing decides. */
  readonly anybody?: true;
  /** Modes that answer otherwise, with the reason why they may. */
  readonly otherwise?: Partial<Record<Mode, { readonly because: string; readonly status?: string }>>;
}

const CHAT = '/v1/chat/completions';
const chat = (body: object, headers: readonly string[] = []): Outgoing => ({
  path: CHAT,
  headers,
  body: { model: MODEL, ...body },
});
const post = (path: string, body: object, headers: readonly string[] = []): Outgoing => ({
  path,
  headers,
  body: { model: MODEL, ...body },
});
const key = (value: string): readonly string[] => ['x-smg-routing-key', value];
const target = (value: string): readonly string[] => ['x-smg-target-worker', value];
const says = (text: string) => ({ messages: [{ role: 'user', content: text }] });
const JSON_TYPE = ['content-type', 'application/json'];

const BAD_JSON = '400 json_parse_error';
const MISS = '503 no_available_workers';
const TOO_LARGE = {
  because: 'static BUFFERED: Envoy refuses what is larger than its buffer (envoy 4.4)',
  status: '413 request_body_too_large',
};

function ringRows(urls: readonly string[]): readonly Row[] {
  const host = (index: number) => new URL(urls[index] ?? '').host;
  return [
    { name: 'a header key', out: chat({}, key('conversation-1')) },
    { name: 'a header key with lineage', out: chat({}, key('conversation-2_t7')) },
    { name: 'the first of two header keys', out: chat({}, [...key('one'), ...key('two')]) },
    { name: 'a header key of 128 bytes', out: chat({}, key('k'.repeat(128))) },
    {
      name: 'a header key of 129 bytes, beside an implicit one',
      out: chat({}, [...key('k'.repeat(129)), 'authorization', 'a']),
    },
    { name: 'a header key in UTF-8', out: chat({}, key(Buffer.from('Gespräch').toString('latin1'))) },
    {
      name: 'a header key that is no UTF-8, beside an implicit one',
      out: chat({}, [...key('\xff\xfe'), 'authorization', 'b']),
    },
    { name: 'an empty header key, beside an implicit one', out: chat({}, [...key(''), 'authorization', 'c']) },
    { name: 'target by index', out: chat({}, target('2')), status: '200' },
    { name: 'target by index, with zeros', out: chat({}, target('001')), status: '200' },
    { name: 'target by id', out: chat({}, target(urls[1] ?? '')), status: '200' },
    { name: 'target by host:port', out: chat({}, target(host(0))), status: '200' },
    { name: 'target before rid and header key', out: chat({ rid: 'r' }, [...target('0'), ...key('k')]), status: '200' },
    { name: 'target out of range', out: chat({}, target('3')), status: MISS },
    { name: 'target that is nobody', out: chat({}, target('somebody')), status: MISS },
    { name: 'an implicit key: authorization', out: chat({}, ['authorization', 'Bearer secret']) },
    { name: 'an implicit key: x-forwarded-for', out: chat({}, ['x-forwarded-for', '203.0.113.9']) },
    { name: 'an implicit key: cookie', out: chat({}, ['cookie', 'a=1; b=2']) },
    { name: 'rid in a chat', out: chat({ rid: 'conv-1' }) },
    { name: 'rid with lineage', out: chat({ rid: 'conv-2_t3' }) },
    { name: 'rid before a header key', out: chat({ rid: 'conv-3' }, key('other')) },
    {
      name: 'rid with escapes',
      out: { path: CHAT, body: Buffer.from(`{"model":"${MODEL}","r\\u0069d":"c\\u006fnv-4"}`) },
    },
    { name: 'rid null, header key', out: chat({ rid: null }, key('k5')) },
    { name: 'rid empty, header key', out: chat({ rid: '' }, key('k6')) },
    { name: 'rid a number', out: chat({ rid: 5 }), status: BAD_JSON },
    {
      name: 'rid twice',
      out: { path: CHAT, body: Buffer.from(`{"model":"${MODEL}","rid":"a","rid":"b"}`) },
      status: BAD_JSON,
    },
    {
      name: 'rid at the end of a chunked body',
      out: { path: CHAT, headers: JSON_TYPE, body: pieces(chatBody('conv-7', 200_000)) },
    },
    { name: 'rid over HTTP/2', out: chat({ rid: 'conv-8_t1' }), http2: true },
    {
      name: 'a header key over HTTP/2, chunked',
      out: { path: CHAT, headers: [...JSON_TYPE, ...key('h2')], body: pieces(chatBody('', 2_000), 500) },
      http2: true,
    },
    { name: '/v1/completions: rid', out: post('/v1/completions', { rid: 'conv-9', prompt: 'x' }) },
    { name: '/generate: rid', out: post('/generate', { rid: 'conv-10', text: 'x' }) },
    { name: '/v1/embeddings: rid', out: post('/v1/embeddings', { rid: 'conv-11', input: 'x' }) },
    { name: '/v1/rerank: rid', out: post('/v1/rerank', { rid: 'conv-12', query: 'q', documents: ['d'] }) },
    { name: '/rerank: rid', out: post('/rerank', { rid: 'conv-12', query: 'q', documents: ['d'] }) },
    { name: '/v1/classify: rid', out: post('/v1/classify', { rid: 'conv-13', input: 'x' }) },
    { name: '/v1/responses: header key', out: post('/v1/responses', { rid: 'ignored', input: 'x' }, key('k14')) },
    { name: '/v1/messages: header key', out: post('/v1/messages', { ...says('x'), max_tokens: 1 }, key('k15')) },
    { name: 'an unknown path: header key', out: post('/unknown', {}, key('k16')) },
    { name: 'GET with a header key', out: { path: '/v1/models', headers: key('k17') }, status: '200' },
    { name: 'POST without a body: header key', out: { path: CHAT, method: 'POST', headers: key('k18') } },
    { name: 'a body that is no JSON', out: { path: CHAT, body: 'not json' }, status: BAD_JSON },
    { name: 'a body that is no object', out: { path: CHAT, body: '[1]' }, status: BAD_JSON },
    {
      name: 'a text body is opaque: header key',
      out: { path: CHAT, headers: ['content-type', 'text/plain', ...key('k19')], body: '{"rid":5}' },
    },
    {
      name: 'a compressed body is opaque: header key',
      out: { path: CHAT, headers: ['content-encoding', 'gzip', ...key('k20')], body: gzipSync('{"rid":5}') },
    },
    {
      name: 'a model that nobody serves',
      out: { path: CHAT, body: { model: 'nobody', rid: 'conv-21' } },
      status: '404 model_not_found',
      otherwise: {
        FULL_DUPLEX_STREAMED: {
          because: 'the Endpoint Picker Protocol has 503 for it (decisions 13)',
          status: '503 model_not_found',
        },
      },
    },
    { name: 'no key at all', out: chat({}), status: '200', anybody: true },
    { name: 'no key in the headers of a GET', out: { path: '/v1/models' }, status: '200', anybody: true },
    {
      name: 'a body over the limit, rid at its beginning',
      out: { path: CHAT, body: chatBody('conv-22', OVER_LIMIT, 'start') },
      status: '200',
      otherwise: { BUFFERED: TOO_LARGE },
    },
    {
      name: 'a body over the limit, rid at its end, header key',
      out: { path: CHAT, headers: key('k23'), body: chatBody('conv-23', OVER_LIMIT) },
      status: '200',
      otherwise: {
        BUFFERED: TOO_LARGE,
        FULL_DUPLEX_STREAMED: {
          because: 'the service holds the whole body and reads the rid (decisions 14)',
          status: '200',
        },
      },
    },
  ];
}

const PREFIX_ROWS: readonly Row[] = [
  { name: 'a chat', out: chat(says('tell me a story about a lighthouse')) },
  { name: 'another chat', out: chat(says('what is the capital of France, and why')) },
  { name: 'a completion', out: post('/v1/completions', { prompt: 'Once upon a time there was' }) },
  { name: 'token ids', out: post('/generate', { input_ids: [5, 6, 7, 8, 9, 10, 11, 12, 13] }) },
  { name: 'a token hint instead of the body', out: chat(says('x'), ['x-smg-routing-tokens', '1,2,3,4,5,6,7,8,9']) },
  { name: 'a token hint that is none', out: chat(says('the prompt decides'), ['x-smg-routing-tokens', '1,x']) },
  { name: 'a header key instead of the prompt', out: chat(says('x'), key('prefix-key')) },
  { name: 'a large prompt', out: chat(says('many words '.repeat(10_000))) },
];

const PIN_ROWS: readonly Row[] = [
  { name: 'a header key', out: chat({}, key('pin-1')) },
  { name: 'a header key with lineage', out: chat({}, key('pin-2_t5')) },
  { name: 'rid', out: chat({ rid: 'pin-3' }) },
  { name: 'rid with lineage', out: chat({ rid: 'pin-4_t2' }) },
  { name: 'rid before a header key', out: chat({ rid: 'pin-5' }, key('pin-1')) },
  { name: '/generate: rid', out: post('/generate', { rid: 'pin-6', text: 'x' }) },
  { name: '/v1/responses: header key', out: post('/v1/responses', { input: 'x' }, key('pin-7')) },
  { name: 'GET with a header key', out: { path: '/v1/models', headers: key('pin-8') } },
];

describe.skipIf(noEnvoy())('one decision table through every mode', () => {
  let sim: Sim;
  let envoy: EnvoyHandle;
  const services = new Map<PolicyKind, ServiceProcess>();
  const urls = new Map<string, string>();
  const urlOf = (policy: PolicyKind, mode: Mode): string => urls.get(`${policy} ${mode}`) ?? '';

  beforeAll(async () => {
    sim = await startSim({ port: await freePort('127.0.0.1', 3), count: 3 });
    const yamls: string[] = [];
    const kinds = Object.keys(POLICIES) as PolicyKind[];
    await Promise.all(
      kinds.map(async (kind) => {
        const flags = [...POLICIES[kind], '--worker-urls', ...sim.urls, '--envoy-body-limit', `${LIMIT}`];
        const shown = [...flags, '--decision-header', '--log-level', 'warn'];
        const service = await ServiceProcess.start(shown);
        services.set(kind, service);
        for (const mode of MODES) {
          const listen = `127.0.0.1:${await freePort()}`;
          urls.set(`${kind} ${mode}`, `http://${listen}`);
          const more = ['--static-workers', '--grpc-port', `${service.grpcPort}`, '--listen', listen];
          yamls.push(await configOf(mode, [...shown, ...more]));
        }
      }),
    );
    // A worker that becomes ready between two requests moves keys.
    await Promise.all([...services.values()].map((service) => until(() => allReady(service), 'workers are ready')));
    envoy = await startEnvoy(joinedEnvoy(yamls));
    await until(async () => {
      const probes = await Promise.all([...urls.values()].map((url) => ask(url, chat({}, key('probe')))));
      return probes.every(({ headers }) => headers['x-smg-decision'] !== undefined);
    }, 'every mode has its service');
  });
  afterAll(async () => {
    await envoy?.stop();
    await Promise.all([...services.values()].map((service) => service.stop(1_000)));
    await sim?.close();
  });

  async function send(url: string, row: Row): Promise<Answer> {
    if (row.http2 === undefined) return ask(url, row.out);
    const client = http2Client(url);
    try {
      const { headers = [], ...rest } = row.out;
      return await client.ask({ ...rest, method: 'POST', headers });
    } finally {
      client.close();
    }
  }

  /**
   * Asks in turn by every mode, beginning with another one for each row.
   *
   * @returns the worker
   */
  async function expectOneAnswer(policy: PolicyKind, row: Row, turn: number): Promise<string> {
    let home = '';
    const seen = new Map<Mode, string>();
    for (let i = 0; i < MODES.length; i++) {
      const mode = MODES[(i + turn) % MODES.length] ?? 'ext_proc';
      // A request in flight is load, and load is a reason to go elsewhere.
      if (policy === 'prefix') {
        await until(
          async () => (await services.get(policy)?.metrics())?.sum('smg_envoy_picks_in_flight') === 0,
          'idle',
        );
      }
      const answer = await send(urlOf(policy, mode), row);
      const { 'x-smg-error-code': code, 'x-sim-worker': worker = '', 'x-smg-decision': decision } = answer.headers;
      const status = code === undefined ? `${answer.status}` : `${answer.status} ${code}`;
      const wanted = row.otherwise?.[mode]?.status ?? row.status;
      if (wanted !== undefined) expect(status, mode).toBe(wanted);
      if (row.otherwise?.[mode] !== undefined) continue;
      // The first that sees a key makes its pin, the others find it.
      const why = policy === 'pins' ? '' : decision;
      seen.set(mode, `${status} ${row.anybody ? '' : worker} ${why}`);
      home = worker;
    }
    const [one, ...others] = new Set(seen.values());
    expect(others, `${one} at first, of ${JSON.stringify([...seen])}`).toEqual([]);
    return home;
  }

  it('has 40 rows and more, few of which differ, each for a reason', () => {
    const rows = [...ringRows(sim.urls), ...PREFIX_ROWS, ...PIN_ROWS];
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.flatMap((row) => Object.values(row.otherwise ?? {})).length).toBe(4);
  });

  it.each([
    ['consistent_hashing: the same worker, for the same reason', 'ring', ringRows],
    ['prefix_hash: the same worker, for the same reason', 'prefix', () => PREFIX_ROWS],
    ['sticky over round_robin: every mode follows the pin that another one made', 'pins', () => PIN_ROWS],
  ] as const)('%s', async (_, policy, rowsOf) => {
    const vacant = async () =>
      (await services.get(policy)?.metrics())?.sum('smg_manual_policy_branch_total', { branch: 'vacant' }) ?? 0;
    const before = await vacant();
    const homes = new Set<string>();
    const rows = rowsOf(sim.urls);
    for (const [turn, row] of rows.entries()) homes.add(await named(row, expectOneAnswer(policy, row, turn)));
    // Not all went to one.
    expect(sim.workers.filter(({ name }) => homes.has(name)).length).toBeGreaterThan(1);
    expect((await vacant()) - before).toBe(policy === 'pins' ? rows.length : 0);
  });

  it('every request was decided by the service', async () => {
    for (const service of services.values()) {
      expect((await service.metrics()).sum('smg_envoy_fail_open_total')).toBe(0);
    }
  });
});

async function configOf(mode: Mode, flags: readonly string[]): Promise<string> {
  switch (mode) {
    case 'ext_proc':
      return envoyConfig(flags);
    case 'BUFFERED':
      return editEnvoy(await envoyConfig(flags), processBy(MODES_OF_ENVOY.buffered.processing, false));
    case 'FULL_DUPLEX_STREAMED':
      return envoyConfig([...flags, '--mode', 'ext-proc-full-duplex']);
    case 'ext_authz':
      return envoyConfig([...flags, '--mode', 'ext-authz']);
  }
}

async function allReady(service: ServiceProcess): Promise<boolean> {
  const workers: { status: string }[] = (await service.admin('/workers')).json.workers;
  return workers.every(({ status }) => status === 'ready');
}

/** The name of the row goes before what is wrong with it. */
async function named<T>(row: Row, checked: Promise<T>): Promise<T> {
  try {
    return await checked;
  } catch (error) {
    if (error instanceof Error) error.message = `${row.name}: ${error.message}`;
    throw error;
  }
}
