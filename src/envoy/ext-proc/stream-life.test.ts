import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer, FinalAnswer } from '../../picker/answer.ts';
import type { Modes } from './fixture.suite.ts';
import { pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';

/** A picker that answers when told to. */
function delayed(stream: Stream): { resolve(answer: Answer): Promise<void>; reject(error: Error): Promise<void> } {
  let settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  const answer = new Promise<Answer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  stream.picker.answer = () => answer;
  return {
    resolve: async (value) => {
      settle?.resolve(value);
      await answer;
    },
    reject: async (error) => {
      settle?.reject(error);
      await answer.catch(() => undefined);
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a decision that takes time', () => {
  it('is answered when it comes, with the messages that waited behind it in order', async () => {
    const stream = new Stream();
    const picker = delayed(stream);
    stream.requestHeaders();
    stream.responseHeaders();
    stream.responseTrailers();

    await picker.resolve(pickOf('late'));

    expect(stream.call.kinds).toEqual(['requestHeaders', 'responseHeaders', 'responseTrailers']);
    expect(stream.call.sent[0]?.dynamicMetadata?.['picker']).toEqual({ pick_id: 'late' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('refuses, and drops what waited', async () => {
    const stream = new Stream();
    const picker = delayed(stream);
    stream.requestHeaders();
    stream.responseHeaders();

    await picker.resolve(REFUSAL);

    expect(stream.call.kinds).toEqual(['immediateResponse']);
  });

  it('passes after 250 ms, counted, and abandons the late pick (decisions 11)', async () => {
    const stream = new Stream();
    const picker = delayed(stream);
    stream.requestHeaders();

    vi.advanceTimersByTime(249);
    expect(stream.call.sent).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(stream.call.kinds).toEqual(['requestHeaders']);
    expect(stream.call.sent[0]?.dynamicMetadata).toBeUndefined();
    expect(stream.observer.notes).toContain('passed:deadline');
    await picker.resolve(pickOf('late'));

    expect(stream.call.sent).toHaveLength(1);
    expect(stream.picker.abandoned).toEqual(['late']);
    stream.close();
    expect(stream.picker.ended).toEqual([]);
  });

  it('passes when it is rejected, and reports that once', async () => {
    const stream = new Stream();
    const picker = delayed(stream);
    stream.requestHeaders();

    await picker.reject(new Error('store away'));

    expect(stream.call.kinds).toEqual(['requestHeaders']);
    const reports = stream.observer.notes.filter((note) => note.startsWith('pass') || note.startsWith('pickFailed'));
    expect(reports).toEqual(['pickFailed:store away', 'passed:internal_error']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['halfClose', 'close'] as const)('is abandoned when the stream is over first by %s', async (end) => {
    const stream = new Stream();
    const picker = delayed(stream);
    stream.requestHeaders();

    stream[end]();
    await picker.resolve(pickOf('late'));
    if (end === 'halfClose') stream.close();

    expect(stream.picker.abandoned).toEqual(['late']);
    expect(stream.picker.ended).toEqual([]);
    expect(stream.call.sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves nothing behind when it refuses or fails after the stream is over', async () => {
    const refused = new Stream();
    const refusing = delayed(refused);
    refused.requestHeaders();
    refused.close();
    await refusing.resolve(REFUSAL);
    const failed = new Stream();
    const failing = delayed(failed);
    failed.requestHeaders();
    failed.close();
    await failing.reject(new Error('late'));

    expect([...refused.picker.abandoned, ...failed.picker.abandoned]).toEqual([]);
    expect([...refused.call.sent, ...failed.call.sent]).toEqual([]);
  });
});

/** A picker whose answer waits for another worker first. */
function deferring(stream: Stream): { resolve(answer: FinalAnswer): Promise<void>; readonly cancelled: number } {
  let settle: (answer: FinalAnswer) => void = () => {};
  const answer = new Promise<FinalAnswer>((resolve) => {
    settle = resolve;
  });
  let cancelled = 0;
  stream.picker.planned = READ;
  stream.picker.answer = () => ({ kind: 'deferred', timeoutMs: 58_500, answer, cancel: () => cancelled++ });
  return {
    resolve: async (value) => {
      settle(value);
      await answer;
    },
    get cancelled() {
      return cancelled;
    },
  };
}

describe('envoy 10.5 an answer that is deferred', () => {
  it('asks for the time at once, and for no more than that', async () => {
    const stream = new Stream({ request: 'buffered' });
    const picker = deferring(stream);
    stream.requestHeaders();
    const [asked, ...others] = stream.requestBody('{}');

    expect(asked).toEqual(expect.objectContaining({ overrideMessageTimeout: { seconds: 60n, nanos: 500_000_000 } }));
    expect(asked?.response).toBeUndefined();
    expect(others).toEqual([]);
    vi.advanceTimersByTime(58_000);
    expect(stream.call.sent).toHaveLength(2);

    await picker.resolve(pickOf('late', { body: Buffer.from('{"a":1}') }));
    expect(stream.call.kinds.at(-1)).toBe('requestBody');
    expect(picker.cancelled).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('needs no more time in full duplex', async () => {
    const stream = new Stream({ request: 'full_duplex', response: 'full_duplex' });
    const picker = deferring(stream);
    stream.requestHeaders();
    expect(stream.requestBody('{}')).toEqual([]);
    await picker.resolve(pickOf('late'));
    expect(stream.call.kinds).toEqual(['requestHeaders', 'requestBody']);
  });

  it('may be a refusal', async () => {
    const stream = new Stream({ request: 'buffered' });
    const picker = deferring(stream);
    stream.requestHeaders();
    stream.requestBody('{}');
    await picker.resolve(REFUSAL);
    expect(stream.call.kinds.at(-1)).toBe('immediateResponse');
  });

  it.each(['halfClose', 'close'] as const)('is cancelled when the stream is over first by %s', async (end) => {
    const stream = new Stream({ request: 'buffered' });
    const picker = deferring(stream);
    stream.requestHeaders();
    stream.requestBody('{}');
    const sent = stream.call.sent.length;

    stream[end]();
    if (end === 'halfClose') stream.close();
    expect(picker.cancelled).toBe(1);
    await picker.resolve({ kind: 'pass' });
    expect(stream.call.sent).toHaveLength(sent);
    expect(stream.picker.ended).toEqual([]);
  });

  it('is cancelled when it came too late to be waited for', async () => {
    const stream = new Stream();
    const cancel = vi.fn();
    const picker = delayed(stream);
    stream.requestHeaders();
    vi.advanceTimersByTime(250);
    await picker.resolve({ kind: 'deferred', timeoutMs: 1, answer: new Promise(() => {}), cancel });
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('keeps a drain waiting', async () => {
    const stream = new Stream({ request: 'buffered' });
    const picker = deferring(stream);
    stream.requestHeaders();
    stream.requestBody('{}');
    stream.method.drain();
    expect(stream.call.ended).toBeNull();
    await picker.resolve(pickOf('late'));
    expect(stream.call.ended).toEqual({ status: 0, details: '' });
  });
});

describe('a picker that throws', () => {
  it('lets the request continue without a pick', () => {
    const stream = new Stream();
    stream.picker.answer = () => {
      throw new Error('bug');
    };

    const [answer] = stream.requestHeaders();

    expect(answer?.response?.$case).toBe('requestHeaders');
    expect(answer?.dynamicMetadata).toBeUndefined();
    expect(stream.observer.notes).toEqual(expect.arrayContaining(['pickFailed:bug', 'passed:internal_error']));
  });

  it('decides by the headers when it cannot plan', () => {
    const stream = new Stream();
    stream.picker.plan = () => {
      throw new Error('bug');
    };

    expect(stream.requestHeaders()[0]?.dynamicMetadata).toBeDefined();
    expect(stream.observer.notes).toContain('pickFailed:bug');
  });
});

describe('decisions 7 what the end of a stream means', () => {
  const BODY = (stream: Stream): void => {
    stream.picker.planned = READ;
    stream.requestHeaders();
    stream.requestBody('{}');
  };
  const HEADERS = (stream: Stream): void => void stream.requestHeaders();

  it.each<[string, Modes, (stream: Stream) => void, string[]]>([
    ['header pick', {}, HEADERS, []],
    ['header pick in a buffered mode', { request: 'buffered' }, HEADERS, []],
    ['body pick by override', {}, BODY, ['p1']],
    ['body pick, static buffered', { request: 'buffered' }, BODY, ['p1']],
    ['body pick, static buffered partial', { request: 'buffered_partial' }, BODY, ['p1']],
    ['body pick in full duplex, response not seen', { request: 'full_duplex' }, BODY, ['p1']],
    ['header pick in full duplex, response not seen', { request: 'full_duplex' }, HEADERS, ['p1']],
    ['full duplex both ways, by body', { request: 'full_duplex', response: 'full_duplex' }, BODY, ['p1']],
    ['full duplex both ways, by headers', { request: 'full_duplex', response: 'full_duplex' }, HEADERS, ['p1']],
  ])('%s', (_name, modes, decide, ended) => {
    for (const halfClosed of [true, false]) {
      const stream = new Stream(modes);
      decide(stream);
      if (halfClosed) stream.halfClose();
      expect(stream.picker.ended).toEqual([]);
      stream.close();

      expect(stream.picker.ended).toEqual(ended);
      expect(stream.picker.abandoned).toEqual([]);
    }
  });

  it('is left to the access log where one is promised (P11)', () => {
    const stream = new Stream({ request: 'full_duplex' }, {}, { 'x-smg-envoy': 'periodic=10' });
    BODY(stream);
    stream.close();

    expect(stream.picker.ended).toEqual([]);
  });

  it('is that of the request where we fail it: a message that cannot be read, in full duplex', () => {
    const stream = new Stream({ request: 'full_duplex' });
    BODY(stream);
    stream.raw(Buffer.from([0xff]));
    stream.close();

    expect(stream.call.ended).toMatchObject({ status: 3 });
    expect(stream.picker.ended).toEqual(['p1']);
  });

  it('ends the call at once when Envoy has half-closed', () => {
    const stream = new Stream();
    stream.requestHeaders();

    stream.halfClose();

    expect(stream.call.ended).toEqual({ status: 0, details: '' });
  });

  it('ends nothing for a request that was refused or passed', () => {
    for (const answer of [REFUSAL, { kind: 'pass' } as const]) {
      const stream = new Stream();
      stream.picker.answer = () => answer;
      BODY(stream);
      stream.close();

      expect(stream.picker.ended).toEqual([]);
    }
  });
});

describe('envoy 1 rule 18 drain', () => {
  it('ends a held stream with OK, which is no end of its request', () => {
    const stream = new Stream();
    stream.picker.planned = READ;
    stream.requestHeaders();
    stream.requestBody('{}');

    stream.method.drain();
    stream.close();

    expect(stream.call.ended).toEqual({ status: 0, details: '' });
    expect(stream.picker.ended).toEqual([]);
  });

  it('answers what is owed first', async () => {
    const stream = new Stream();
    stream.picker.planned = READ;
    const picker = delayed(stream);
    stream.method.drain();
    stream.requestHeaders();
    expect(stream.call.ended).toBeNull();
    stream.requestBody('{}');
    expect(stream.call.ended).toBeNull();

    await picker.resolve(pickOf('p1'));

    expect(stream.call.kinds).toEqual(['requestHeaders', 'requestBody']);
    expect(stream.call.ended).toEqual({ status: 0, details: '' });
  });

  it('lets bodies in full duplex run to their end', () => {
    const stream = new Stream({ request: 'full_duplex' });
    stream.requestHeaders();
    stream.method.drain();
    stream.requestBody('abc', true);

    expect(stream.call.ended).toBeNull();
  });

  it('does not end a stream that has not asked anything yet, and ends response-only streams once answered', () => {
    const stream = new Stream();
    stream.method.drain();
    expect(stream.call.ended).toBeNull();

    stream.responseHeaders();

    expect(stream.call.ended).toEqual({ status: 0, details: '' });
  });
});

it('forgets streams that are over', () => {
  const stream = new Stream();
  expect(stream.method.openStreams).toBe(1);
  stream.requestHeaders();
  stream.close();

  expect(stream.method.openStreams).toBe(0);
  expect(stream.observer.notes).toEqual(['message:request_headers', 'bodyPath:header_only', 'answer:request_headers']);
});
