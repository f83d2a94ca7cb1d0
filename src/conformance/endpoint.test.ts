import { describe, expect, it } from 'vitest';
import { canonical, isEndpoint } from './endpoint.ts';

describe('endpoint-picker-protocol 3, envoy 6.2: what Envoy finds', () => {
  it.each([
    ['10.0.0.1:8000', true, '10.0.0.1:8000'],
    ['[fd00::1]:8000', true, '[fd00::1]:8000'],
    ['fd00::1:8000', false, '[fd00::1]:8000'],
    ['[fd00:0:0:0:0:0:0:1]:8000', false, '[fd00::1]:8000'],
    ['[FD00::1]:8000', false, '[fd00::1]:8000'],
    ['[::ffff:10.0.0.1]:8000', true, '[::ffff:10.0.0.1]:8000'],
    ['[fe80::1%eth0]:8000', true, '[fe80::1%eth0]:8000'],
    ['10.0.0.1', false, '10.0.0.1'],
    ['10.0.0.1:0', false, '10.0.0.1:0'],
    ['10.0.0.1:65536', false, '10.0.0.1:65536'],
    ['worker:8000', false, 'worker:8000'],
    ['http://10.0.0.1:8000', false, 'http://10.0.0.1:8000'],
    ['', false, ''],
  ])('%s: %s, usual spelling %s', (text, found, usual) => {
    expect(isEndpoint(text)).toBe(found);
    expect(canonical(text)).toBe(usual);
  });
});
