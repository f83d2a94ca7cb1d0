import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { changesIn } from './fixture.suite.ts';
import { PHASES, type Phase, type PhaseAnswer } from './message.ts';
import { CONTINUE, writeAnswer, writeImmediate, writeMoreTime } from './write-answer.ts';

const caseOf = (phase: Phase): string => phase.replace(/_[a-z]/, (end) => end.slice(1).toUpperCase());

const text = fc.string({ unit: 'grapheme', maxLength: 100 });
const set = fc.array(fc.record({ name: text, value: text }), { maxLength: 4 });
const changes = fc.record({ remove: fc.array(text, { maxLength: 4 }), set });
const metadata = fc.record({
  destination: text,
  strict: fc.boolean(),
  pickId: text,
  rank: fc.option(fc.nat(9999)),
  decision: fc.option(text),
  prefill: fc.option(text),
});
const answer: fc.Arbitrary<PhaseAnswer> = fc.record({
  phase: fc.constantFrom(...PHASES),
  changes: fc.option(changes),
  metadata: fc.option(metadata),
  clearRouteCache: fc.boolean(),
  askForBody: fc.boolean(),
  announced: fc.option(text),
  body: fc.option(fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes))),
});

/** What the generated code would be given. */
function expected({
  phase,
  changes: wanted,
  metadata: pick,
  clearRouteCache,
  askForBody,
  announced,
  body,
}: PhaseAnswer) {
  const headerMutation = wanted === null ? undefined : mutationOf(wanted);
  const bodyMutation = body === null ? undefined : { mutation: { $case: 'body', value: body } };
  const plain = headerMutation === undefined && bodyMutation === undefined && !clearRouteCache;
  const common = plain ? undefined : { headerMutation, bodyMutation, ...(clearRouteCache ? { clearRouteCache } : {}) };
  return {
    response: {
      $case: caseOf(phase),
      value: phase.endsWith('trailers') ? { headerMutation } : { response: common },
    },
    dynamicMetadata:
      pick === null
        ? announced === null
          ? undefined
          : { picker: { pick_id: announced } }
        : {
            'envoy.lb': {
              'x-gateway-destination-endpoint': pick.destination,
              ...(pick.strict ? { strict: '1' } : {}),
              ...(pick.prefill === null ? {} : { prefill: pick.prefill }),
            },
            picker: {
              pick_id: pick.pickId,
              ...(pick.decision === null ? {} : { decision: pick.decision }),
              ...(pick.rank === null ? {} : { rank: String(pick.rank), rank_suffix: `@${pick.rank}` }),
            },
          },
    modeOverride: askForBody ? { requestBodyMode: 3 } : undefined,
  };
}

function mutationOf({ set: wanted, remove }: NonNullable<PhaseAnswer['changes']>) {
  return {
    setHeaders: wanted.map(({ name, value }) => ({
      header: { key: name, rawValue: Buffer.from(value) },
    })),
    removeHeaders: [...remove],
  };
}

const readBack = (bytes: Buffer): ProcessingResponse => ProcessingResponse.decode(bytes);
/** The message as the generated code writes and reads it. */
const meant = (message: object): ProcessingResponse =>
  ProcessingResponse.decode(ProcessingResponse.encode(message as ProcessingResponse).finish());

describe('a ProcessingResponse', () => {
  it('is read by the generated code as it was meant', () => {
    fc.assert(
      fc.property(answer, (each) => {
        expect(readBack(writeAnswer(each))).toEqual(meant(expected(each)));
      }),
      { numRuns: 500 },
    );
  });

  it.each(PHASES)('that continues %s is an answer of that kind and nothing more', (phase) => {
    const read = ProcessingResponse.decode(CONTINUE[phase]);

    expect(read.response?.$case).toBe(caseOf(phase));
    expect(changesIn(read)).toEqual({ set: {}, remove: [] });
    expect([read.dynamicMetadata, read.modeOverride]).toEqual([undefined, undefined]);
  });

  it('with a body of 8 MB leaves the next one as it is', () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'x');
    const given = {
      phase: 'request_body',
      changes: null,
      metadata: null,
      clearRouteCache: false,
      askForBody: false,
      announced: null,
      body,
    } as const;
    const large = writeAnswer(given);
    const small = writeAnswer({ ...given, body: Buffer.from('y') });

    // A comparison of trees takes too long for so much.
    expect(readBack(large).response?.value).toMatchObject({
      response: { bodyMutation: { mutation: { $case: 'body' } } },
    });
    expect(large.subarray(-body.length).equals(body)).toBe(true);
    expect(readBack(small)).toEqual(meant(expected({ ...given, body: Buffer.from('y') })));
  });

  it('that refuses has its status, since none means 200 (envoy 10.2)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), set, text, text, (status, headers, body, details) => {
        const value = {
          status: { code: status },
          headers: mutationOf({ set: headers, remove: [] }),
          body: Buffer.from(body),
          details,
        };

        expect(readBack(writeImmediate({ status, headers, body, details }))).toEqual(
          meant({ response: { $case: 'immediateResponse', value } }),
        );
      }),
    );
  });

  it.each([
    { ms: 250, seconds: 0n, nanos: 250_000_000 },
    { ms: 31_000, seconds: 31n, nanos: 0 },
    { ms: 600_001, seconds: 600n, nanos: 1_000_000 },
  ])('that asks for $ms ms', ({ ms, seconds, nanos }) => {
    const { overrideMessageTimeout } = ProcessingResponse.decode(writeMoreTime(ms));

    expect({ seconds: overrideMessageTimeout?.seconds ?? 0n, nanos: overrideMessageTimeout?.nanos }).toEqual({
      seconds,
      nanos,
    });
  });
});
