import { beforeEach, describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { prefillOrder } from '../../test/support/prefill-order.ts';
import type { PrefillOrder } from '../picker/prefill-dispatch.ts';
import { MirrorDispatch } from './mirror-dispatch.ts';

const WORKER = {
  origin: 'http://10.0.0.1:8000',
  authority: 'p:8000',
  host: '[fd00::1]',
  apiKey: null,
  order: 'parallel',
  connector: null,
  bootstrapPort: 9001,
  engineId: null,
  rank: null,
} as const;

let noBootstrap: number;
let dispatch: MirrorDispatch;
beforeEach(() => {
  noBootstrap = 0;
  dispatch = new MirrorDispatch({
    find: ({ id }) => (id === 'http://gone' ? undefined : WORKER),
    observer: { noBootstrap: () => noBootstrap++ },
    fill: (bytes) => bytes.fill(0),
  });
});

describe('decisions 27 dispatch by mirroring', () => {
  it.each<[string, Partial<PrefillOrder>, string]>([
    ['names the room in the one body of both legs', {}, '"model":"alias"}'],
    ['with the canonical model', { model: 'canonical' }, '"model":"canonical"}'],
  ])('%s', (_, parts, end) => {
    const handoff = dispatch.start(prefillOrder(parts));
    expect(handoff).toMatchObject({ kind: 'handoff', leftTo: 'envoy' });
    const front = '{"bootstrap_host":"fd00::1","bootstrap_port":9001,"bootstrap_room":0,';
    expect(handoff.kind === 'handoff' && handoff.body?.toString()).toBe(front + end);
  });

  it.each<[string, Partial<PrefillOrder>, number, string]>([
    ['was not read whole', { body: null }, 413, 'request_body_too_large'],
    ['cannot be replaced', { mostBodyBytes: 0 }, 501, 'endpoint_not_supported'],
    ['grows over the limit', { mostBodyBytes: 40 }, 413, 'request_body_too_large'],
  ])('a body that %s cannot name a room', (_, parts, status, code) => {
    expect(dispatch.start(prefillOrder(parts))).toMatchObject({ kind: 'failed', status, code });
    expect(noBootstrap).toBe(1);
  });

  it.each([
    ['that has left', makeWorker('http://gone')],
    ['whose name does not resolve', makeWorker('http://p', { address: '' })],
  ])('a prefill worker %s fails the request', (_, prefill) => {
    expect(dispatch.start(prefillOrder({ prefill }))).toMatchObject({ kind: 'failed', status: 502 });
  });
});
