import { describe, expect, it } from 'vitest';
import { ReplicaBench } from '../../test/support/replica-bench.ts';

const W = 'http://10.0.0.1:8000';
const V = 'http://10.0.0.2:8000';

function pair() {
  const bench = new ReplicaBench();
  const [a, b] = [bench.start(), bench.start()];
  bench.pass(1000);
  return { bench, a, b };
}

describe('loads of several replicas', () => {
  it('are seen by each within 60 ms, keys once they last', () => {
    const { bench, a, b } = pair();
    a.begin(W, 'k');
    a.begin(W, null);

    bench.pass(50);
    expect(b.counter(W)).toMatchObject({ requests: 2, distinctKeys: 1, ownRequests: 0, ownDistinctKeys: 0 });
    expect(b.counter(W).ofKey('k')).toBe(0);

    bench.pass(60);
    expect(b.counter(W).ofKey('k')).toBe(1);

    a.end(0);
    bench.pass(10);
    expect(b.counter(W).ofKey('k'), 'an end is told sooner').toBe(0);
    bench.pass(50);
    expect(b.counter(W).requests).toBe(1);
  });

  it('tells nothing while nothing changes but a sign of life each second', () => {
    const { bench, a } = pair();
    const before = a.events('sent');

    bench.pass(10_000);

    expect(a.events('sent') - before).toBe(10);
  });

  it('tells all changes at most every 50 ms, however many there are', () => {
    const { bench, a } = pair();
    const before = a.events('sent');

    for (let i = 0; i < 100; i++) {
      for (let n = 0; n < 20; n++) a.begin(W, null);
      bench.pass(10);
    }

    expect(a.events('sent') - before).toBeLessThanOrEqual(1000 / 50 + 2);
  });

  it('a newcomer knows everything within a second', () => {
    const { bench, a, b } = pair();
    a.begin(W, 'k');
    b.begin(V, 'l');
    bench.pass(3000);

    const c = bench.start();
    bench.pass(1010);

    expect([c.counter(W).ofKey('k'), c.counter(V).ofKey('l'), c.sharing.others]).toEqual([1, 1, 2]);
  });

  it('a lost message is noticed and made good', () => {
    const { bench, a, b } = pair();
    bench.hub.loses = (from) => from === a.channel.self;
    a.begin(W, 'k');
    bench.pass(200);
    expect(b.counter(W).requests).toBe(0);

    bench.hub.loses = () => false;
    bench.pass(2100);

    expect([b.counter(W).requests, b.counter(W).ofKey('k'), b.events('gap')]).toEqual([1, 1, 1]);
  });

  it('the share of a silent replica counts for 3 s and no longer', () => {
    const { bench, a, b } = pair();
    a.begin(W, 'k');
    b.begin(W, 'k');
    bench.pass(1000);
    bench.kill(a);

    bench.pass(1900);
    expect(b.counter(W)).toMatchObject({ requests: 2, distinctKeys: 2 });
    bench.pass(1200);

    expect([b.counter(W).requests, b.counter(W).distinctKeys, b.counter(W).ofKey('k')]).toEqual([1, 1, 1]);
    expect([b.sharing.others, b.sharing.oldestShareMs]).toEqual([0, null]);
  });

  it('the share of one that goes is taken back at once', () => {
    const { bench, a, b } = pair();
    a.begin(W, 'k');
    bench.pass(200);

    a.sharing.close();
    bench.hub.deliver();

    expect([b.counter(W).requests, b.counter(W).ofKey('k'), b.sharing.others]).toEqual([0, 0, 0]);
  });

  it('a process that takes over a name counts as itself', () => {
    const { bench, a, b } = pair();
    for (let i = 0; i < 5; i++) {
      a.begin(W, 'k');
      bench.pass(100);
    }
    bench.kill(a);
    const again = bench.start(a.channel.self);
    again.begin(W, 'l');
    bench.pass(3000);

    expect([b.counter(W).requests, b.counter(W).ofKey('k'), b.counter(W).ofKey('l')]).toEqual([1, 0, 1]);
  });

  it('while the way is down each counts its own, and everything is right again soon after', () => {
    const { bench, a, b } = pair();
    a.begin(W, 'k');
    b.begin(W, null);
    bench.pass(200);
    for (const { channel } of [a, b]) channel.cut = true;
    a.begin(V, 'l');
    bench.pass(4000);
    expect([a.counter(W).requests, b.counter(W).requests, a.sharing.others]).toEqual([1, 1, 0]);
    expect(a.events('unsent')).toBeGreaterThan(0);

    for (const { channel } of [a, b]) channel.cut = false;
    bench.pass(2000);

    expect([a.counter(W).requests, b.counter(W).requests, b.counter(V).ofKey('l')]).toEqual([2, 2, 1]);
  });

  it('what is no message is counted and ignored, more names than there can be too', () => {
    const { bench, a, b } = pair();
    const noise = bench.hub.join('ffffffff');
    for (const text of ['', '{}', '["c","zzzzzzzz",1,[]]']) noise.publish('loads', text);
    for (let i = 0; i < 500; i++) noise.publish('loads', `["x","${(0x1000 + i).toString(16).padStart(8, '0')}"]`);
    for (let i = 0; i < 500; i++) noise.publish('loads', `["a","${(0x1000 + i).toString(16).padStart(8, '0')}",null]`);
    bench.hub.deliver();

    expect([a.events('malformed'), b.sharing.others]).toEqual([3, 256]);
  });

  it('very many keys go in several messages', () => {
    const { bench, a, b } = pair();
    for (let i = 0; i < 30_000; i++) a.begin(W, `key-${i}`);
    bench.pass(200);

    expect([b.counter(W).ofKey('key-0'), b.counter(W).ofKey('key-29999'), b.counter(W).requests]).toEqual([
      1, 1, 30_000,
    ]);
    expect(Math.max(...a.channel.published.map(({ length }) => length))).toBeLessThan(130_000);

    const c = bench.start();
    bench.pass(2000);
    expect([c.counter(W).ofKey('key-29999'), c.counter(W).distinctKeys]).toEqual([1, 30_000]);
  });

  it('no load key leaves the process', () => {
    const { bench, a } = pair();
    a.begin(W, 'conversation-of-somebody');
    bench.pass(2000);

    expect(a.channel.published.join()).not.toContain('somebody');
  });
});

describe('access-log streams of other replicas', () => {
  it('count while these live, and tell when the last was gone', () => {
    const { bench, a, b } = pair();
    a.logStreams = 2;
    bench.pass(1000);
    expect([b.sharing.logStreams, b.sharing.lastLogStreamClosedAt]).toEqual([2, null]);

    a.logStreams = 1;
    bench.pass(1000);
    const fewer = b.sharing.lastLogStreamClosedAt;
    bench.kill(a);
    bench.pass(4000);

    expect(fewer).toBe(2010);
    expect(b.sharing.logStreams).toBe(0);
    expect(b.sharing.lastLogStreamClosedAt).toBe(5010);
  });

  it('a replica is alive, gone, or not heard for long enough to say', () => {
    const { bench, a, b } = pair();
    expect([b.sharing.presenceOf(a.channel.self), b.sharing.presenceOf('99999999')]).toEqual(['alive', 'unsure']);

    bench.pass(3000);
    expect(b.sharing.presenceOf('99999999')).toBe('gone');

    b.channel.cut = true;
    bench.pass(5000);
    expect(b.sharing.presenceOf(a.channel.self)).toBe('unsure');
    b.channel.cut = false;
    bench.pass(1000);
    expect(b.sharing.presenceOf(a.channel.self)).toBe('alive');
  });
});
