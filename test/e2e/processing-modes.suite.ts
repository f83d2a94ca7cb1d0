import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { MODES, type Mode } from '../support/body-modes.ts';
import { type EnvoyChange, processBy, withListeners } from '../support/edit-envoy.ts';
import { type Answer, ask, type EnvoyHandle, freePort, startEnvoy, until } from '../support/services.ts';
import { envoyConfig, type Stack } from '../support/stack.ts';
import { expectWholeBodies, SIZES } from './whole-bodies.ts';

const CHAT = '/v1/chat/completions';
interface Way {
  readonly name: string;
  /** What makes a conversation stick there. */
  readonly sticksBy: 'rid' | 'header' | 'nothing';
  /** Status of a request of 50 MiB, where bodies of all sizes are compared; null where another way stands for it. */
  readonly bodies: 200 | 413 | null;
  readonly change: EnvoyChange;
}

function way(name: string, mode: Mode, sticksBy: Way['sticksBy'], bodies: Way['bodies'], more: object = {}): Way {
  const process = processBy(mode.processing, mode.override);
  const change: EnvoyChange = (envoy) => {
    process(envoy);
    Object.assign(envoy.extProc, more);
  };
  return { name, sticksBy, bodies, change };
}

const NONE = MODES.override.processing;
const asking = (processing: Partial<Mode['processing']>): Mode => ({
  title: '',
  processing: { ...NONE, ...processing },
  override: true,
});
// Without a header message Envoy has chosen the worker before the body gets here.
const HEADLESS = {
  ...MODES.buffered,
  processing: { ...MODES.buffered.processing, request_header_mode: 'SKIP' },
};
const HEAD_AS_ATTRIBUTES = {
  allow_content_length_header: true,
  request_attributes: ['request.path', 'request.method', "request.headers['content-type']"],
};

const WAYS: readonly Way[] = [
  way('NONE, override to BUFFERED_PARTIAL', MODES.override, 'rid', 200),
  way('BUFFERED', MODES.buffered, 'rid', 413),
  way('BUFFERED_PARTIAL', MODES.partial, 'rid', 200),
  way('STREAMED', MODES.streamed, 'header', 200),
  way('FULL_DUPLEX_STREAMED requests', MODES.duplex, 'rid', null),
  way('FULL_DUPLEX_STREAMED both ways', MODES.both, 'rid', 200),
  way('request headers SKIP, BUFFERED', HEADLESS, 'nothing', null, HEAD_AS_ATTRIBUTES),
  way('response headers SEND', asking({ response_header_mode: 'SEND' }), 'rid', null),
  way('trailers SEND', asking({ request_trailer_mode: 'SEND', response_trailer_mode: 'SEND' }), 'rid', null),
  way(
    'response bodies STREAMED',
    asking({ response_header_mode: 'SEND', response_body_mode: 'STREAMED' }),
    'rid',
    null,
  ),
  way('observability', MODES.override, 'nothing', null, { observability_mode: true }),
];

/** Every processing mode that an operator can write into Envoy (envoy 4): served, whole, and sticky where it can be. */
export function processingModes(flags: readonly string[], stackOf: () => Stack): void {
  let envoy: EnvoyHandle;
  let urls: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const first = await freePort('127.0.0.1', WAYS.length);
    const ports = ['--grpc-port', String(stackOf().service.grpcPort), '--listen', `127.0.0.1:${first}`];
    const changes = Object.fromEntries(WAYS.map(({ name, change }) => [name, change]));
    const config = withListeners(await envoyConfig([...flags, ...ports]), first, changes);
    urls = config.urls;
    envoy = await startEnvoy(config.yaml);
    await until(async () => (await ask(envoy.url, { path: '/v1/models' })).status === 200, 'workers are known');
  });
  afterAll(() => envoy?.stop());

  it.each(WAYS)('$name serves every body whole; a conversation sticks by $sticksBy', async (way) => {
    const url = urls[way.name] ?? '';
    await expectWhole(url, way.sticksBy, way.name);
    if (way.bodies !== null) await expectWholeBodies(url, way.bodies);
    expect(envoy.output).not.toMatch(/critical|assert|envoy bug/i);
  });

  async function expectWhole(url: string, sticksBy: Way['sticksBy'], name: string): Promise<void> {
    for (const size of SIZES) {
      for (const chunked of [false, true]) {
        const turns = [1, 2, 3].map((turn) => ({
          body: size < 100 ? Buffer.alloc(size, 'x') : chatBody(`${name}-${size}_t${turn}`, size),
          key: sticksBy === 'header' || size < 100 ? `${name}-${size}` : `decoy-${turn}`,
        }));
        const workers = new Set<string | undefined>();
        for (const { body, key } of turns) {
          const answer = await send(url, body, key, chunked);
          const seen = { size, chunked, status: answer.status, sha256: answer.headers['x-sim-body-sha256'] };
          expect(seen).toEqual({ size, chunked, status: 200, sha256: sha256(body) });
          expect(answer.headers['x-smg-routed-worker-id']).toBeDefined();
          workers.add(answer.headers['x-sim-worker']);
        }
        if (sticksBy !== 'nothing')
          expect({ size, chunked, workers: workers.size }).toEqual({ size, chunked, workers: 1 });
      }
    }
    const events = await ask(url, {
      path: CHAT,
      body: { rid: `${name}-events`, stream: true, max_tokens: 500 },
      headers: { 'x-sim': '{"tokens":500}' },
    });
    expect(events.text.match(/^data: /gm)).toHaveLength(503);
  }
}

function send(url: string, body: Buffer, key: string, chunked: boolean): Promise<Answer> {
  const type = body.length < 100 ? 'application/octet-stream' : 'application/json';
  const headers = { 'content-type': type, 'x-smg-routing-key': key };
  if (!chunked) return ask(url, { path: CHAT, method: 'POST', body, headers });
  const coding = { 'transfer-encoding': 'chunked' };
  return ask(url, { path: CHAT, method: 'POST', body: pieces(body, 50_000), headers: { ...headers, ...coding } });
}
