import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import type { Answer } from '../../picker/answer.ts';
import { chunksIn, HEADERS_DO, pickOf, READ, REFUSAL, Stream } from './fixture.suite.ts';
import { BODY_MODES, type BodyMode } from './message.ts';

/** One request as Envoy may send it, whatever its modes. */
interface Scenario {
  readonly request: BodyMode;
  readonly response: BodyMode;
  readonly sendsUnasked: boolean;
  readonly plan: boolean;
  readonly outcome: 'pick' | 'refusal' | 'pass' | 'throw';
  readonly late: boolean;
  /** False: the filter does not send request headers, or the stream starts at the response. */
  readonly startsAtHeaders: boolean;
  readonly bodyless: boolean;
  readonly requestBody: readonly Buffer[];
  readonly requestTrailers: boolean;
  readonly overrideGranted: boolean;
  readonly responsePhase: boolean;
  readonly responseBody: readonly Buffer[];
  readonly responseTrailers: boolean;
}

const pieces = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 70_000 })), { maxLength: 4 })
  .map((sizes) => sizes.map((size, index) => Buffer.alloc(size, index + 1)));

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  request: fc.constantFrom(...BODY_MODES),
  response: fc.constantFrom(...BODY_MODES),
  sendsUnasked: fc.boolean(),
  plan: fc.boolean(),
  outcome: fc.constantFrom('pick' as const, 'pick' as const, 'refusal' as const, 'pass' as const, 'throw' as const),
  late: fc.boolean(),
  startsAtHeaders: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  bodyless: fc.boolean(),
  requestBody: pieces,
  requestTrailers: fc.boolean(),
  overrideGranted: fc.boolean(),
  responsePhase: fc.boolean(),
  responseBody: pieces,
  responseTrailers: fc.boolean(),
});

type Send = (stream: Stream) => void;
type Kind = NonNullable<ProcessingResponse['response']>['$case'];

function start(scenario: Scenario): Stream {
  const { request, response, sendsUnasked } = scenario;
  const stream = new Stream({ request, response, sendsUnasked });
  stream.picker.planned = scenario.plan ? READ : HEADERS_DO;
  const answer = (): Answer => {
    if (scenario.outcome === 'throw') throw new Error('broken');
    if (scenario.outcome === 'pick') return pickOf('p1');
    return scenario.outcome === 'refusal' ? REFUSAL : { kind: 'pass' };
  };
  stream.picker.answer = scenario.late ? async () => answer() : answer;
  return stream;
}

/** The messages of one direction in a mode, as Envoy sends them. */
function bodyMessages(
  mode: BodyMode,
  parts: readonly Buffer[],
  trailers: boolean,
  send: (stream: Stream, body: Buffer, end: boolean) => void,
): Send[] {
  const whole = Buffer.concat(parts);
  if (mode === 'none') return [];
  if (mode === 'buffered' || mode === 'buffered_partial') return [(stream) => send(stream, whole, !trailers)];
  const sends: Send[] = parts.map((part) => (stream) => send(stream, part, false));
  if (!trailers) sends.push((stream) => send(stream, Buffer.alloc(0), true));
  return sends;
}

/** What Envoy does next may depend on an override, so the list is asked for after the headers. */
function requestMessages(scenario: Scenario, overridden: boolean): Send[] {
  const mode = overridden ? 'buffered_partial' : scenario.request;
  const { requestTrailers } = scenario;
  const sends = bodyMessages(mode, scenario.requestBody, requestTrailers, (stream, body, end) => {
    stream.requestBody(body, end);
  });
  if (requestTrailers && !overridden) sends.push((stream) => stream.requestTrailers());
  return sends;
}

function responseMessages(scenario: Scenario): Send[] {
  if (!scenario.responsePhase) return [];
  const sends: Send[] = [(stream) => stream.responseHeaders()];
  sends.push(
    ...bodyMessages(scenario.response, scenario.responseBody, scenario.responseTrailers, (stream, body, end) => {
      stream.responseBody(body, end);
    }),
  );
  if (scenario.responseTrailers) sends.push((stream) => stream.responseTrailers());
  return sends;
}

/** Envoy waits for each answer, except for bodies in full duplex. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function asksForBody(stream: Stream): boolean {
  return stream.call.sent.some((answer) => answer.modeOverride !== undefined);
}

async function run(scenario: Scenario, cutAfter: number): Promise<{ stream: Stream; sent: number; refused: boolean }> {
  const stream = start(scenario);
  let sent = 0;
  const refused = (): boolean => stream.call.kinds.includes('immediateResponse');
  const play = async (sends: Send[], wait: boolean): Promise<void> => {
    for (const send of sends) {
      if (sent >= cutAfter || refused()) return;
      send(stream);
      sent += 1;
      if (wait) await settle();
    }
    await settle();
  };

  if (scenario.startsAtHeaders) {
    await play([(target) => target.requestHeaders({}, scenario.bodyless)], scenario.request !== 'full_duplex');
    const overridden = asksForBody(stream) && scenario.overrideGranted;
    if (!scenario.bodyless) await play(requestMessages(scenario, overridden), scenario.request !== 'full_duplex');
  }
  await play(responseMessages(scenario), scenario.response !== 'full_duplex');
  return { stream, sent, refused: refused() };
}

const of = (kinds: readonly Kind[], ...wanted: Kind[]): Kind[] => kinds.filter((kind) => wanted.includes(kind));

describe('any request that Envoy may send', () => {
  it('gets one answer for each message, in order and of its kind; in full duplex every byte back', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { stream, refused } = await run(scenario, Number.POSITIVE_INFINITY);
        const received = stream.observer.notes.filter((note) => note.startsWith('message:')).map(kindOf);
        const { kinds, sent } = stream.call;

        const duplexRequest = scenario.request === 'full_duplex';
        const duplexResponse = scenario.response === 'full_duplex';
        const counted = (kind: Kind): boolean =>
          !(duplexRequest && kind === 'requestBody') && !(duplexResponse && kind === 'responseBody');
        for (const side of ['request', 'response'] as const) {
          const mine = (list: readonly Kind[]): Kind[] => list.filter((kind) => kind.startsWith(side) && counted(kind));
          if (!refused) expect(mine(kinds)).toEqual(mine(received));
        }
        if (refused) {
          expect(kinds.at(-1)).toBe('immediateResponse');
          return;
        }
        expect(kinds).not.toContain('immediateResponse');

        if (duplexRequest && scenario.startsAtHeaders && !scenario.bodyless) {
          expectEcho(
            sent.filter((answer) => answer.response?.$case === 'requestBody'),
            scenario.requestBody,
            !scenario.requestTrailers,
          );
          expect(of(kinds, 'requestHeaders', 'requestBody', 'requestTrailers')).toEqual(inOrder(kinds, 'request'));
        }
        if (duplexResponse && scenario.responsePhase) {
          expectEcho(
            sent.filter((answer) => answer.response?.$case === 'responseBody'),
            scenario.responseBody,
            !scenario.responseTrailers,
          );
          expect(of(kinds, 'responseHeaders', 'responseBody', 'responseTrailers')).toEqual(inOrder(kinds, 'response'));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('never leaves a pick that neither reached Envoy nor was abandoned, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, fc.nat({ max: 6 }), fc.boolean(), async (scenario, cutAfter, half) => {
        const stream = start(scenario);
        const all = [
          ...(scenario.startsAtHeaders
            ? [
                (target: Stream) => void target.requestHeaders({}, scenario.bodyless),
                ...(scenario.bodyless ? [] : requestMessages(scenario, scenario.plan && scenario.request === 'none')),
              ]
            : []),
          ...responseMessages(scenario),
        ];
        for (const send of all.slice(0, cutAfter)) if (!stream.call.kinds.includes('immediateResponse')) send(stream);
        if (half) stream.halfClose();
        stream.close();
        await settle();

        const made = stream.picker.asked.length > 0 && scenario.outcome === 'pick' ? 1 : 0;
        const told = stream.call.sent.filter((answer) => answer.dynamicMetadata !== undefined).length;
        expect(told + stream.picker.abandoned.length).toBe(made);
        expect(stream.picker.ended.length).toBeLessThanOrEqual(told);
        expect(stream.method.openStreams).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });
});

function kindOf(note: string): Kind {
  const [first = '', second = ''] = note.slice('message:'.length).split('_');
  return `${first}${second.charAt(0).toUpperCase()}${second.slice(1)}` as Kind;
}

/** Headers, then body, then trailers: the only order Envoy takes in full duplex. */
function inOrder(kinds: readonly Kind[], side: 'request' | 'response'): Kind[] {
  return [...of(kinds, `${side}Headers`), ...of(kinds, `${side}Body`), ...of(kinds, `${side}Trailers`)];
}

function expectEcho(answers: readonly ProcessingResponse[], parts: readonly Buffer[], ended: boolean): void {
  const chunks = chunksIn(answers);
  expect(Buffer.concat(chunks.map((chunk) => chunk.body)).equals(Buffer.concat(parts))).toBe(true);
  expect(chunks.filter((chunk) => chunk.endOfStream)).toHaveLength(ended ? 1 : 0);
  expect(chunks.at(-1)?.endOfStream ?? false).toBe(ended);
}
