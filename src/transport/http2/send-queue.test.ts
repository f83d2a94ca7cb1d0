import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SendQueue } from './send-queue.ts';

describe('what waits to be sent', () => {
  it('goes out whole and in order, in portions of any size', () => {
    const part = fc.uint8Array({ maxLength: 30 });
    const portion = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(fc.array(part), fc.infiniteStream(portion), (parts, portions) => {
        const queue = new SendQueue();
        for (const each of parts) queue.add(each);
        const whole = Buffer.concat(parts);
        const sent: Uint8Array[] = [];
        let bytes = whole.length;

        for (const size of portions) {
          expect(queue.bytes).toBe(bytes);
          if (bytes === 0) break;
          queue.move(size, (range) => sent.push(range));
          bytes -= Math.min(bytes, size);
        }

        expect(Buffer.concat(sent).equals(whole)).toBe(true);
      }),
    );
  });

  it('is not copied', () => {
    const queue = new SendQueue();
    const part = Buffer.from('range');
    queue.add(part);
    queue.move(3, (range) => expect(range.buffer).toBe(part.buffer));
  });

  it('can be dropped', () => {
    const queue = new SendQueue();
    queue.add(Buffer.from('x'));
    queue.clear();

    expect(queue.bytes).toBe(0);
    queue.move(10, () => expect.unreachable());
  });
});
