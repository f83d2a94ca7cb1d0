import { expect, it } from 'vitest';
import { isSafeHeaderValue } from './header-safety.ts';

it('decisions 30: accepts exactly the header values without control characters', () => {
  for (let code = 0; code < 0x100; code += 1) {
    expect(isSafeHeaderValue(`a${String.fromCharCode(code)}b`)).toBe(code >= 0x20 && code !== 0x7f);
  }
});
