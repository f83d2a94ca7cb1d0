import { describe, expect, it } from 'vitest';
import { chatBody, pieces, sha256 } from '../support/bodies.ts';
import { type EditableEnvoy, editEnvoy } from '../support/edit-envoy.ts';
import { type Answer, ask, freePort, startEnvoy, until } from '../support/services.ts';
import { envoyConfig, type Stack } from '../support/stack.ts';
import { expectWholeBodies } from './whole-bodies.ts';

const CHAT = '/v1/chat/completions';
/** Around the size of an answered piece in full duplex, and of Envoy's own buffers. */
const SIZES = [0, 1, 62_000, 62_001, 64 * 1024, 1024 * 1024];

const NONE = {
  request_header_mode: 'SEND',
  response_header_mode: 'SKIP',
  request_body_mode: 'NONE',
  response_body_mode: 'NONE',
  request_trailer_mode: 'SKIP',
  response_trailer_mode: 'SKIP',
};

interface Mode {
  readonly name: string;
  /** What makes a conversation stick there. */
  readonly sticksBy: 'rid' | 'header' | 'nothing';
  /** Status of a request of 50 MiB, where bodies of all sizes are compared; null where another mode stands for it. */
  readonly bodies: 200 | 413 | null;
  readonly change: (envoy: EditableEnvoy) => void;
}

function mode(
  name: string,
  sticksBy: Mode['sticksBy'],
  bodies: Mode['bodies'],
  processing: Partial<typeof NONE>,
  more: object = {},
): Mode {
  const change = ({ extProc }: EditableEnvoy): void => {
    const written = { ...NONE, ...processing };
    const allowed = [{ ...written, request_body_mode: 'BUFFERED_PARTIAL', response_body_mode: 'NONE' }];
    Object.assign(extProc, { processing_mode: written, allowed_override_modes: allowed, ...more });
    if (Object.values(processing).includes('FULL_DUPLEX_STREAMED')) {
      delete extProc['allow_mode_override'];
      delete extProc['allowed_override_modes'];
    }
  };
  return { name, sticksBy, bodies, change };
}

const DUPLEX = 'FULL_DUPLEX_STREAMED';
const HEAD_AS_ATTRIBUTES = ['request.path', 'request.method', "request.headers['content-type']"];

const MODES: readonly Mode[] = [
  mode('NONE, override to BUFFERED_PARTIAL', 'rid', 200, {}),
  mode('BUFFERED', 'rid', 413, { request_body_mode: 'BUFFERED' }),
  mode('BUFFERED_PARTIAL', 'rid', 200, { request_body_mode: 'BUFFERED_PARTIAL' }),
  mode('STREAMED', 'header', 200, { request_body_mode: 'STREAMED' }),
  mode('FULL_DUPLEX_STREAMED requests', 'rid', null, { request_body_mode: DUPLEX, request_trailer_mode: 'SEND' }),
  mode('FULL_DUPLEX_STREAMED both ways', 'rid', 200, {
    response_header_mode: 'SEND',
    request_body_mode: DUPLEX,
    response_body_mode: DUPLEX,
    request_trailer_mode: 'SEND',
    response_trailer_mode: 'SEND',
  }),
  // Without a header message Envoy has chosen the worker before the body gets here.
  mode(
    'request headers SKIP, BUFFERED',
    'nothing',
    null,
    { request_header_mode: 'SKIP', request_body_mode: 'BUFFERED' },
    { allow_content_length_header: true, request_attributes: HEAD_AS_ATTRIBUTES },
  ),
  mode('response headers SEND', 'rid', null, { response_header_mode: 'SEND' }),
  mode('trailers SEND', 'rid', null, { request_trailer_mode: 'SEND', response_trailer_mode: 'SEND' }),
  mode('response bodies STREAMED', 'rid', null, { response_header_mode: 'SEND', response_body_mode: 'STREAMED' }),
  mode('observability', 'nothing', null, {}, { observability_mode: true }),
];

/** Every processing mode that an operator can write into Envoy (envoy 4): served, whole, and sticky where it can be. */
export function processingModes(flags: readonly string[], stackOf: () => Stack): void {
  describe.each(MODES)('$name', ({ name, sticksBy, bodies, change }) => {
    it(`serves every body whole; a conversation sticks by ${sticksBy}`, async () => {
      const stack = stackOf();
      const ports = ['--grpc-port', String(stack.service.grpcPort), '--listen', `127.0.0.1:${await freePort()}`];
      const admin = ['--admin-listen', `127.0.0.1:${await freePort()}`];
      const yaml = editEnvoy(await envoyConfig([...flags, ...ports, ...admin]), change);
      const envoy = await startEnvoy(yaml);
      try {
        await until(async () => (await ask(envoy.url, { path: '/v1/models' })).status === 200, 'workers are known');
        await expectWhole(envoy.url, sticksBy, name);
        if (bodies !== null) await expectWholeBodies(envoy.url, bodies);
        expect(envoy.output).not.toMatch(/critical|assert|envoy bug/i);
      } finally {
        await envoy.stop();
      }
    });
  });

  async function expectWhole(url: string, sticksBy: Mode['sticksBy'], name: string): Promise<void> {
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
