import { describe, expect, it } from 'vitest';
import type { HeadParts } from '../../test/support/head.ts';
import { chat, FACTS, PickerBench } from '../../test/support/picker-bench.ts';
import type { RoutingRequest } from '../request/routing-request.ts';

/** A bench that keeps what routing was given. */
function watchedBench(): { readonly bench: PickerBench; readonly prompt: () => RoutingRequest['prompt'] } {
  const seen: RoutingRequest[] = [];
  const bench = new PickerBench({
    router: (real) => {
      const decide = real.decide.bind(real);
      real.decide = (request, ...rest) => {
        seen.push(request);
        return decide(request, ...rest);
      };
      return real;
    },
  }).ready(1);
  return { bench, prompt: () => seen.at(-1)!.prompt };
}

const HINT: HeadParts = { headers: [['x-smg-routing-tokens', '1,2']] };
const BODY = { messages: [{ role: 'user', content: 'hi' }], cache_salt: 's' };

describe('what routing sees of a prompt', () => {
  it('is the text and the namespace of the body', () => {
    const { bench, prompt } = watchedBench();

    bench.pick(BODY);

    expect(prompt()).toMatchObject({ tokens: null, text: 'hi', namespace: 'dce460e9e8bd706a' });
  });

  it('is the token hint, whether the body was read or not', () => {
    const { bench, prompt } = watchedBench();

    bench.pick(null, HINT);
    expect(prompt()).toMatchObject({ tokens: Uint32Array.of(1, 2), text: null, namespace: null });

    bench.pick(BODY, HINT);
    expect(prompt()).toMatchObject({ tokens: Uint32Array.of(1, 2), text: null, namespace: 'dce460e9e8bd706a' });
  });

  it.each<[string, unknown, HeadParts]>([
    ['no body', null, {}],
    ['an empty body', Buffer.alloc(0), {}],
    ['an encoded body', BODY, { headers: [['content-encoding', 'gzip']] }],
    [
      'a form',
      Buffer.from('--b'),
      { path: '/v1/audio/transcriptions', headers: [['content-type', 'multipart/form-data']] },
    ],
  ])('is nothing of %s', (_title, body, parts) => {
    const { bench, prompt } = watchedBench();

    bench.pick(body, parts);

    expect(prompt()).toMatchObject({ tokens: null, text: null, namespace: null });
  });

  it('is what stands in the beginning of a longer body', () => {
    const { bench, prompt } = watchedBench();
    const bytes = Buffer.from('{"messages":[{"role":"user","content":"hel');

    const answer = bench.picker.pick(chat(), { bytes, complete: false }, FACTS);

    expect(answer).toMatchObject({ kind: 'pick' });
    expect(prompt().text).toBe('hel');
  });
});

describe('smg_router_requests_total{streaming}', () => {
  const requests = (bench: PickerBench, streaming: 'true' | 'false' | 'unknown'): number =>
    bench.metrics.routerRequests.cell('http', 'regular', 'http', 'unknown', 'chat', streaming).value;

  it('tells streams apart where the body was read', () => {
    const bench = new PickerBench().ready(1);

    for (const body of [{ stream: true }, { stream: false }, {}, { stream: true }, null]) bench.pick(body);

    expect([requests(bench, 'true'), requests(bench, 'false'), requests(bench, 'unknown')]).toEqual([2, 2, 1]);
  });
});
