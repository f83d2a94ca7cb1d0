import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../bench/gates/in-process.mjs', import.meta.url));
/** Young objects stay where they are for a whole round, so that the growth of the heap is what was allocated. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

interface Body {
  readonly bodyBytes: number;
  readonly copied: number;
  readonly bufferBytes: number;
}
interface Counted {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly writes: number;
  readonly answered: number;
  readonly long: Body;
  readonly short: Body;
}

describe('what a request costs from the bytes of a socket to those of the answer, on our own HTTP/2', () => {
  let counted: Counted;
  beforeAll(() => {
    counted = JSON.parse(execFileSync(process.execPath, [...FLAGS, PROGRAM], { encoding: 'utf8' })) as Counted;
  });

  it('allocates at most 8 KB for a request with a header key, and no more than its message beside', () => {
    expect(counted.heapBytes).toBeGreaterThan(500);
    expect(counted.heapBytes).toBeLessThan(8192);
    expect(counted.bufferBytes).toBeLessThan(2048);
  });

  it.each(['long', 'short'] as const)('copies a %s body once, out of what was read', (which) => {
    const { copied, bodyBytes } = counted[which];
    expect(copied).toBeGreaterThanOrEqual(bodyBytes);
    expect(copied).toBeLessThan(bodyBytes * 1.02 + 2048);
  });

  it('uses the memory of a long body again', () => {
    expect(counted.long.bufferBytes).toBeLessThan(16_384);
  });

  it('answers all requests of one read with one write', () => {
    expect(counted.answered).toBe(32);
    expect(counted.writes).toBe(1);
  });
});
