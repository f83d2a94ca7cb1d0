import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentEncode } from './percent-encode.ts';

describe('gRPC over HTTP/2, Status-Message', () => {
  it.each([
    ['', ''],
    ['no such thing', 'no such thing'],
    ['100 %', '100 %25'],
    ['two\nlines', 'two%0Alines'],
    ['ü~', '%C3%BC~'],
    ['\u007f', '%7F'],
  ])('%j is sent as %j', (text, sent) => {
    expect(percentEncode(text)).toBe(sent);
  });

  it('is read back by any decoder of percents, and is printable', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const sent = percentEncode(text);
        expect(decodeURIComponent(sent)).toBe(text);
        expect(sent).toMatch(/^[ -~]*$/);
      }),
    );
  });
});
