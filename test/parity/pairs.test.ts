import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noEnvoy } from '../support/envoy.ts';
import { type Answer, ask } from '../support/http.ts';
import { missing } from '../support/require.ts';
import type { Metrics } from '../support/service-process.ts';
import { findSmg, SmgProcess } from '../support/smg-process.ts';
import { type EngineKind, failing, SplitEngine } from '../support/split-engines.ts';
import { startFront } from '../support/stack.ts';
import { until } from '../support/until.ts';

const absent = noEnvoy() || missing('smg', await findSmg());

const FLAGS = [
  ...['--pd-disaggregation', '--policy', 'round_robin', '--routing-key-override'],
  ...['--retry-initial-backoff-ms', '1', '--retry-max-backoff-ms', '2'],
];
/** What SMG adds to a body, so that the same reaches the engines. */
const ADDED = { skip_special_tokens: true, stream: false };
const CHAT = { messages: [{ role: 'user', content: 'hi' }], logprobs: false, ...ADDED };
const TEXT = { echo: false, ...ADDED };

interface Asked {
  readonly what: string;
  readonly path?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Status of every prefill worker's answer. */
  readonly prefillsFail?: number;
  /** SMG and ours tell the reason each in its way. */
  readonly onlyStatus?: boolean;
}

const PLAN: readonly Asked[] = [
  { what: 'a chat' },
  { what: 'the next pair' },
  { what: 'a limit', body: { max_completion_tokens: 9, min_tokens: 2 } },
  { what: 'a stream', body: { stream: true, stream_options: { include_usage: true } } },
  { what: 'a key', headers: { 'x-smg-routing-key': 'a' } },
  { what: 'another key', headers: { 'x-smg-routing-key': 'b' } },
  { what: 'the key again', headers: { 'x-smg-routing-key': 'a' } },
  { what: 'a rid', body: { rid: 'c_t1' } },
  { what: 'its next turn', body: { rid: 'c_t2' } },
  { what: 'a target and a hint', headers: { 'x-smg-target-worker': '0', 'x-smg-routing-tokens': '1,2' } },
  { what: 'several answers', body: { n: 2 } },
  { what: 'fields of ours', body: { bootstrap_room: 1, bootstrap_host: 'x' } },
  { what: 'prompts', path: '/v1/completions', body: { prompt: ['a', 'b', 'c'], ...TEXT } },
  { what: 'one prompt', path: '/v1/completions', body: { prompt: 'a', max_tokens: 5, ...TEXT } },
  { what: 'a prefill that is refused', prefillsFail: 400 },
  { what: 'prefills that fail', prefillsFail: 503 },
  { what: 'the pair after them' },
];

/** SMG tries them again, in vain. */
const REFUSED: readonly Asked[] = [
  { what: 'a model that nobody serves', body: { model: 'nope' } },
  { what: 'embeddings', path: '/v1/embeddings', body: { input: 'x' }, onlyStatus: true },
];

/** Series whose sums are compared, with the labels by which they are told apart. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  smg_worker_selection_total: ['worker_type'],
  smg_worker_retries_total: ['worker_type'],
  smg_worker_retries_exhausted_total: ['worker_type'],
  smg_worker_cb_outcomes_total: ['worker', 'outcome'],
  smg_manual_policy_branch_total: ['branch'],
  smg_routing_key_source_total: ['source'],
  smg_pd_kv_connector_mode_total: ['mode'],
  smg_pd_kv_transfer_failures_total: [],
  smg_pd_prefill_duration_seconds_count: ['runtime'],
  smg_pd_ttft_seconds_count: ['runtime'],
};

interface Side {
  readonly url: string;
  metrics(): Promise<Metrics>;
}

describe.skipIf(absent).each<[EngineKind, Asked[]]>([
  ['vllm', [...PLAN]],
  // What fails beside its decode is told otherwise.
  ['sglang', PLAN.filter(({ prefillsFail }) => prefillsFail === undefined)],
])('parity with SMG: policies 4 prefill and decode workers of %s', (kind, plan) => {
  const closers: (() => Promise<void> | void)[] = [];
  const engines: SplitEngine[] = [];
  let sides: { readonly smg: Side; readonly ours: Side };

  beforeAll(async () => {
    for (const name of ['p1', 'p2', 'd1', 'd2']) engines.push(await SplitEngine.start({ name, kind, model: 'm' }));
    closers.push(...engines.map((engine) => () => engine.dies()));
    const declared = engines.map(({ name, url }) => ({
      url,
      ...(kind === 'vllm' ? { kv_connector: 'NixlConnector' } : {}),
      ...(name.startsWith('p') ? { bootstrap_port: 9001 } : {}),
    }));
    const [prefill, decode] = [declared.slice(0, 2), declared.slice(2)];
    const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-pairs-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const config = join(folder, 'config.yaml');
    writeFileSync(config, JSON.stringify({ prefill_workers: prefill, decode_workers: decode }));
    const [smg, front] = await Promise.all([
      SmgProcess.start({
        version: '1.11.0',
        flags: FLAGS,
        workers: [
          ...prefill.map((worker) => ({ ...worker, worker_type: 'prefill' as const })),
          ...decode.map((worker) => ({ ...worker, worker_type: 'decode' as const })),
        ],
      }),
      startFront({ settings: [...FLAGS, '--config', config], known: 4 }),
    ]);
    closers.push(
      () => smg.stop(),
      () => front.close(),
    );
    sides = { smg, ours: { url: front.envoy.url, metrics: () => front.service.metrics() } };
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  it.each(plan)('$what', async (asked) => {
    expect(await play(sides.ours, asked)).toEqual(await play(sides.smg, asked));
  });

  it('counts the same', async () => {
    const wanted = counted(await sides.smg.metrics());
    const told = async () => counted(await sides.ours.metrics());
    await until(async () => JSON.stringify(await told()) === JSON.stringify(wanted), 'the same counts', 1500).catch(
      async () => expect(await told()).toEqual(wanted),
    );
  });

  it.each(REFUSED)('$what', async (asked) => {
    expect(await play(sides.ours, asked)).toEqual(await play(sides.smg, asked));
  });

  /** What comes of a request: its answer, and what each engine got. */
  async function play(side: Side, { path = '/v1/chat/completions', onlyStatus = false, ...asked }: Asked) {
    for (const engine of engines) {
      engine.got.length = 0;
      const fails = engine.name.startsWith('p') ? asked.prefillsFail : undefined;
      engine.answer = fails === undefined ? engine.usual : failing(fails);
    }
    const chat = path === '/v1/chat/completions' ? CHAT : {};
    const headers = { 'content-type': 'application/json', ...asked.headers };
    const answer = await ask(side.url, { path, headers, body: { model: 'm', ...chat, ...asked.body } });
    if (onlyStatus) return answer.status;
    // Where both go out at once, the decode may be answered before the prefill is read.
    const legs = kind === 'sglang' && answer.status === 200 ? 2 : 0;
    await until(
      () => engines.flatMap(({ got }) => got).length >= legs && engines.every(({ running }) => running === 0),
      'all is answered',
    );
    return { ...shown(answer), got: Object.fromEntries(engines.map((engine) => [engine.name, gotBy(engine)])) };
  }

  function shown(answer: Answer) {
    const { status, headers } = answer;
    const stamp = engines.find(({ url }) => url === headers['x-smg-routed-worker-id'])?.name;
    return { status, stamp, code: headers['x-smg-error-code'], error: status < 400 ? null : answer.json.error };
  }

  function counted(metrics: Metrics): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const { name, labels, value } of metrics.samples) {
      const told = COUNTED[name]?.map((label) => nameOf(labels[label] ?? ''));
      if (told === undefined || value === 0) continue;
      const key = [name, ...told].join(' ');
      sums[key] = (sums[key] ?? 0) + value;
    }
    return Object.fromEntries(Object.entries(sums).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  const nameOf = (label: string) => engines.find(({ url }) => url === label)?.name ?? label;
});

/** Paths and bodies, where a room is what it is in: the number of both legs differs with each request. */
function gotBy({ got }: SplitEngine): unknown {
  return got.map(({ path, json }) => ({ path, ...json, bootstrap_room: roomsIn(json.bootstrap_room) }));
}

function roomsIn(rooms: unknown): unknown {
  return Array.isArray(rooms) ? rooms.map((room) => typeof room) : typeof rooms;
}
