import { describe, expect, it } from 'vitest';
import type { ReplicaChannel } from './replica-channel.ts';

export interface ChannelPair {
  readonly a: ReplicaChannel;
  readonly b: ReplicaChannel;
  /** Settles when what was published so far has arrived. */
  readonly delivered: () => Promise<void> | void;
}

/** What every channel between replicas does. `pair`: two replicas that reach each other. */
export function replicaChannelSuite(name: string, pair: () => Promise<ChannelPair> | ChannelPair): void {
  describe(`channel between replicas: ${name}`, () => {
    it('brings messages of a topic to all its listeners in order, the own ones too', async () => {
      const { a, b, delivered } = await pair();
      const heard: string[] = [];
      const ends = [
        a.subscribe('t', (text) => heard.push(`a ${text}`)),
        b.subscribe('t', (text) => heard.push(`b ${text}`)),
        b.subscribe('u', (text) => heard.push(`u ${text}`)),
      ];
      await delivered();

      for (const text of ['1', 'two "quoted" é\n', '3']) expect(a.publish('t', text)).toBe(true);
      await delivered();

      expect(heard.filter((text) => text.startsWith('a'))).toEqual(['a 1', 'a two "quoted" é\n', 'a 3']);
      expect(heard.filter((text) => text.startsWith('b'))).toEqual(['b 1', 'b two "quoted" é\n', 'b 3']);
      expect(heard).toHaveLength(6);
      for (const end of ends) end();
    });

    it('brings nothing after the end of a subscription, and goes on for other listeners', async () => {
      const { a, b, delivered } = await pair();
      const heard: string[] = [];
      const end = b.subscribe('t', () => heard.push('ended'));
      const other = b.subscribe('t', (text) => heard.push(text));
      await delivered();

      end();
      a.publish('t', 'x');
      await delivered();

      expect(heard).toEqual(['x']);
      other();
    });

    it('has a name of 8 hexadecimal digits for each', async () => {
      const { a, b } = await pair();

      expect([a.self, b.self]).toEqual([
        expect.stringMatching(/^[0-9a-f]{8}$/),
        expect.stringMatching(/^[0-9a-f]{8}$/),
      ]);
      expect(a.self).not.toBe(b.self);
    });
  });
}
