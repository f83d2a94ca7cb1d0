import { describe, expect, it } from 'vitest';
import { grpcTimeoutMs } from './grpc-timeout.ts';

describe('gRPC over HTTP/2, Timeout', () => {
  it.each([
    ['1H', 3_600_000],
    ['2M', 120_000],
    ['3S', 3000],
    ['250m', 250],
    ['1500u', 1.5],
    ['2000000n', 2],
    ['0m', 0],
    ['99999999H', 99_999_999 * 3_600_000],
    ['', null],
    ['m', null],
    ['10', null],
    ['1s', null],
    ['-1S', null],
    ['1.5S', null],
    ['123456789m', null],
    [' 1S', null],
  ])('%j is %j ms', (text, ms) => {
    expect(grpcTimeoutMs(text)).toBe(ms);
  });
});
