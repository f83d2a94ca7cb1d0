import { describe, expect, it } from 'vitest';
import { type Modes, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import type { BodyMode } from './message.ts';

const OURS = { 'x-smg-envoy': 'periodic=10' };
const OK = { status: 0, details: '' };

function held(modes: Modes = {}, metadata: Record<string, string> = OURS, endsHeldStreams = true): Stream {
  const stream = new Stream(modes, { endsHeldStreams }, metadata);
  stream.picker.planned = READ;
  return stream;
}

describe('envoy 3.2 a stream that Envoy would keep until the response has ended', () => {
  it.each<BodyMode>(['none', 'buffered', 'buffered_partial'])('ends with its body answer, mode %s', (request) => {
    const stream = held({ request });
    stream.requestHeaders();
    expect(stream.call.ended).toBeNull();

    stream.requestBody('{}');

    expect(stream.call.kinds).toEqual(['requestHeaders', 'requestBody']);
    expect(stream.call.ended).toEqual(OK);
  });

  it('ends when nothing was chosen, too', () => {
    const stream = held();
    stream.picker.answer = () => ({ kind: 'pass' });
    stream.requestHeaders();
    stream.requestBody('{}');

    expect(stream.call.ended).toEqual(OK);
  });

  it('ends no request by its end (decisions 7)', () => {
    const stream = held();
    stream.requestHeaders();
    stream.requestBody('{}');
    stream.close();

    expect(stream.picker.ended).toEqual([]);
    expect(stream.method.openStreams).toBe(0);
  });

  it('ends once a late decision was answered', async () => {
    const stream = held();
    let answer = (_: ReturnType<typeof pickOf>): void => undefined;
    stream.picker.answer = () => new Promise((resolve) => (answer = resolve));
    stream.requestHeaders();
    stream.requestBody('{}');
    expect(stream.call.ended).toBeNull();

    answer(pickOf('late'));
    await Promise.resolve();
    await Promise.resolve();

    expect(stream.call.kinds).toEqual(['requestHeaders', 'requestBody']);
    expect(stream.call.ended).toEqual(OK);
  });

  it('is left to Envoy after an immediate response', () => {
    const stream = held();
    stream.picker.answer = () => REFUSAL;
    stream.requestHeaders();
    stream.requestBody('{}');

    expect(stream.call.kinds).toEqual(['requestHeaders', 'immediateResponse']);
    expect(stream.call.ended).toBeNull();
  });
});

describe('envoy 3.2 a stream whose end tells or carries something', () => {
  it('stays open after a pick by headers, which Envoy ends at once', () => {
    const stream = new Stream({}, { endsHeldStreams: true }, OURS);
    stream.requestHeaders();

    expect(stream.call.ended).toBeNull();
  });

  it.each<[string, Modes, Record<string, string>]>([
    ['of an Envoy that promises no access log', {}, {}],
    ['whose response passes through here', { response: 'streamed' }, OURS],
    ['in full duplex', { request: 'full_duplex', response: 'full_duplex' }, OURS],
    ['whose body comes in pieces', { request: 'streamed' }, OURS],
  ])('stays open %s', (_, modes, metadata) => {
    const stream = held(modes, metadata);
    stream.requestHeaders();
    stream.requestBody('{}');

    expect(stream.call.ended).toBeNull();
  });

  it('stays open where each end would count as a reset', () => {
    const stream = held({}, OURS, false);
    stream.requestHeaders();
    stream.requestBody('{}');

    expect(stream.call.ended).toBeNull();
  });
});
