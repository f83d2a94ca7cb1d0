import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProcessingResponse } from '../../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { chunkBytes } from './chunk-bytes.ts';
import { chunksIn } from './fixture.suite.ts';

const PHASES = ['request_body', 'response_body'] as const;
const SIZES = [0, 1, 63, 64, 100, 112, 118, 120, 127, 128, 16_300, 16_384, 62_000, 65_536, 2_097_151, 2_097_152];

/** What the generated code writes for the same. */
function oracle(phase: (typeof PHASES)[number], body: Buffer, endOfStream: boolean): Buffer {
  const bodyMutation = { mutation: { $case: 'streamedResponse' as const, value: { body, endOfStream } } };
  const $case = phase === 'request_body' ? ('requestBody' as const) : ('responseBody' as const);
  return Buffer.from(
    ProcessingResponse.encode({ response: { $case, value: { response: { bodyMutation } } } }).finish(),
  );
}

describe('a piece of a body given back', () => {
  it.each(SIZES)('of %i bytes is what the generated code writes', (size) => {
    const body = Buffer.alloc(size, 'abc');
    for (const phase of PHASES) {
      for (const endOfStream of [true, false]) {
        expect(chunkBytes(phase, body, endOfStream).equals(oracle(phase, body, endOfStream))).toBe(true);
      }
    }
  });

  it('is read as it was given', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, endOfStream) => {
        const body = Buffer.from(bytes);

        expect(chunksIn([ProcessingResponse.decode(chunkBytes('response_body', body, endOfStream))])).toEqual([
          { body, endOfStream },
        ]);
      }),
    );
  });
});
