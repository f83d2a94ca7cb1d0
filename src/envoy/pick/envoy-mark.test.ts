import fc from 'fast-check';
import { expect, it } from 'vitest';
import { periodicLogMs } from './envoy-mark.ts';

it('reads any mark without failing', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(3600), (mark, seconds) => {
      expect(periodicLogMs(mark)).toBeGreaterThanOrEqual(0);
      expect(periodicLogMs(`v=1;periodic=${seconds}`)).toBe(seconds * 1000);
    }),
  );
});
