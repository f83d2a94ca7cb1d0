import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { canonicalAddress } from '../workers/address.ts';
import type { Worker } from '../workers/worker.ts';
import { SubsetHint } from './subset-hint.ts';

const at = (address: string): Worker => ({ ...makeWorker('w'), address });

const FLEET = ['10.0.0.1:8000', '10.0.0.1:8001', '10.0.0.2:8000', '[fd00::1]:8000', '[fd00::1]:8001', '[::1]:9'];

function allowed(value: unknown): string[] {
  const hint = new SubsetHint(value);
  return FLEET.filter((address) => hint.allows(at(address)));
}

const ONE = ['10.0.0.1:8000'];
const BOTH = ['10.0.0.1:8000', '10.0.0.1:8001'];
const SIX = ['[fd00::1]:8000'];
const SIX_BOTH = ['[fd00::1]:8000', '[fd00::1]:8001'];

describe('endpoint-picker-protocol 2 and P2 the subset hint', () => {
  it.each<[string, unknown, string[]]>([
    ['a list', ['10.0.0.1:8000'], ONE],
    ['a list of several', ['10.0.0.2:8000', '10.0.0.1:8000'], ['10.0.0.1:8000', '10.0.0.2:8000']],
    ['one text', '10.0.0.1:8000', ONE],
    ['a comma-joined text', '10.0.0.1:8000,10.0.0.1:8001', BOTH],
    ['comma-joined texts in a list', ['10.0.0.1:8000,10.0.0.1:8001', '10.0.0.1:8000'], BOTH],
    ['blanks', [' 10.0.0.1:8000\t', '  '], ONE],
    ['blanks around commas', ' 10.0.0.1:8000 , 10.0.0.1:8001 ', BOTH],
    ['empty parts', ',,10.0.0.1:8000,,', ONE],
    ['a bare ip', ['10.0.0.1'], BOTH],
    ['ip and ip:port of one host', ['10.0.0.1', '10.0.0.1:8000'], BOTH],
    ['unknown entries beside a known one', ['10.9.9.9:8000', '10.0.0.1:8000'], ONE],
    ['unknown entries only', ['10.9.9.9:8000', '10.0.0.1:9999'], []],
    ['what is no address', ['w1:8000', 'http://10.0.0.1:8000', '10.0.0.1:', ':8000', '010.0.0.1:8000', '10.0.0'], []],
    ['a beginning of an address', ['10.0.0.1:800', '10.0.0.'], []],
    ['texts beside other values', [1, null, '10.0.0.1:8000', {}, ['10.0.0.2:8000']], ONE],
    ['IPv6', ['[fd00::1]:8000'], SIX],
    ['IPv6 without a port', ['[fd00::1]'], SIX_BOTH],
    ['IPv6 without brackets', ['fd00::1'], SIX_BOTH],
    ['IPv6 with a port and no brackets', ['fd00::1:8000'], SIX],
    ['IPv6 in full', ['[fd00:0000:0:0:0:0:0:1]:8000'], SIX],
    ['IPv6 in full with a port and no brackets', ['fd00:0:0:0:0:0:0:1:8000'], SIX],
    ['IPv6 in capitals', ['[FD00::1]:8000'], SIX],
    ['loopback without brackets', '::1:9', ['[::1]:9']],
    ['IPv6 with a zone', ['[fd00::1%eth0]:8000', 'fd00::1%eth0'], []],
    ['half a bracket', ['[fd00::1:8000', 'fd00::1]:8000'], []],
    ['IPv4 in brackets', ['[10.0.0.1]:8000'], []],
    ['text behind the bracket', ['[fd00::1]8000'], []],
    ['an empty list', [], []],
    ['an empty text', '', []],
    ['nothing but commas', ' , ,', []],
    ['null', null, []],
    ['no value', undefined, []],
    ['a number', 8000, []],
    ['true', true, []],
    ['a struct', { '10.0.0.1:8000': true }, []],
    ['a list of lists', [['10.0.0.1:8000']], []],
  ])('%s', (_name, value, expected) => {
    expect(allowed(value)).toEqual(expected);
  });

  it('never allows a worker whose address is not known', () => {
    for (const value of ['', ':', ',', '[]', '[]:1', ['', '::']]) {
      expect(new SubsetHint(value).allows(at(''))).toBe(false);
    }
  });

  it('takes any spelling of an address for the address', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 1, max: 65535 }), (ip, port) => {
        const worker = at(canonicalAddress(ip, port));
        for (const text of [`[${ip}]:${port}`, `[${ip.toUpperCase()}]`, ip, ` ${ip}:${port} `]) {
          expect(new SubsetHint(text).allows(worker)).toBe(true);
        }
        expect(new SubsetHint(`[${ip}]:${port}`).allows(at(canonicalAddress(ip, (port % 65535) + 1)))).toBe(false);
      }),
    );
  });

  it('reads any value without failing, and a list as its texts joined', () => {
    const entry = fc.oneof(fc.constantFrom(...FLEET, '10.0.0.1', 'fd00::1'), fc.string({ maxLength: 8 }));
    fc.assert(
      fc.property(fc.oneof(fc.array(entry), fc.jsonValue()), (value) => {
        const found = allowed(value);
        if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
          expect(allowed(value.join(','))).toEqual(found);
        }
      }),
    );
  });
});
