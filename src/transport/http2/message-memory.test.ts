import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageMemory } from './message-memory.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('memory of long messages', () => {
  it('is used again once it was given back', () => {
    const memory = new MessageMemory();
    const first = memory.take(220 * KIB);
    memory.release(first);
    expect(memory.freeBytes).toBe(256 * KIB);

    const second = memory.take(200 * KIB);

    expect(second.buffer).toBe(first.buffer);
    expect(second.length).toBe(200 * KIB);
    expect(memory.freeBytes).toBe(0);
  });

  it('is never given to two that use it', () => {
    const sizes = fc.integer({ min: 64 * KIB, max: 4 * MIB });
    const steps = fc.array(fc.oneof(sizes, fc.record({ release: fc.nat() })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (list) => {
        const memory = new MessageMemory();
        const used: Buffer[] = [];
        for (const step of list) {
          if (typeof step === 'number') {
            const taken = memory.take(step);
            expect(taken.length).toBe(step);
            expect(used.some(({ buffer }) => buffer === taken.buffer)).toBe(false);
            used.push(taken);
          } else if (used.length > 0) {
            const [given] = used.splice(step.release % used.length, 1);
            if (given !== undefined) memory.release(given);
            // A second time does nothing.
            if (given !== undefined) memory.release(given);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('takes back nothing that is not its own', () => {
    const memory = new MessageMemory();
    memory.release(Buffer.allocUnsafeSlow(220 * KIB));

    expect(memory.freeBytes).toBe(0);
  });

  it('keeps no more than 16 MiB', () => {
    const memory = new MessageMemory();
    const all = Array.from({ length: 20 }, () => memory.take(MIB));
    for (const each of all) memory.release(each);

    expect(memory.freeBytes).toBe(16 * MIB);
  });

  it('leaves short messages and huge ones to the collector', () => {
    const memory = new MessageMemory();
    memory.release(memory.take(64 * KIB - 1));
    memory.release(memory.take(17 * MIB));

    expect(memory.freeBytes).toBe(0);
  });
});
