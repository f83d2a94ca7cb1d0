import { describe, expect, it } from 'vitest';
import { NO_REMOTE_SHARE } from './remote-share.ts';
import { SharedLoads } from './shared-loads.ts';

const W = 'http://10.0.0.1:8000';

describe('counts of a worker at several replicas', () => {
  it('are sums; its own part stays apart', () => {
    const loads = new SharedLoads();
    const counter = loads.counterFor(W);
    counter.add('k');
    const { remote } = loads.of(W);
    remote.change(3, 2);
    remote.changeKey(loads.hash.of('k'), 2);

    expect([counter.requests, counter.distinctKeys, counter.ofKey('k'), counter.ofKey('l')]).toEqual([4, 3, 3, 0]);
    expect([counter.ownRequests, counter.ownDistinctKeys]).toEqual([1, 1]);
    expect(NO_REMOTE_SHARE.isEmpty).toBe(true);
  });

  it('a new instance begins with what the others have, and its predecessor tells of nothing any more', () => {
    const loads = new SharedLoads();
    const first = loads.counterFor(W);
    first.add('k');
    loads.of(W).remote.change(2, 0);

    const second = loads.counterFor(W);
    first.remove('k');
    first.add('l');

    expect([first.requests, second.requests, second.ownRequests]).toEqual([3, 2, 0]);
    expect([loads.of(W).own === second, loads.of(W).keys.pending]).toEqual([true, false]);
  });

  it('tells once that there is something to tell, until it was told', () => {
    const loads = new SharedLoads();
    let told = 0;
    loads.onChange = () => {
      told += 1;
    };
    const counter = loads.counterFor(W);
    counter.add(null);
    counter.add(null);
    expect([told, loads.changed.length]).toEqual([1, 1]);

    loads.settle();
    expect(loads.hasChanges).toBe(false);
    counter.remove(null);
    counter.add('k');
    expect([told, loads.changed.length]).toEqual([2, 1]);

    loads.settle();
    expect(loads.hasChanges, 'a rise of a key is told later').toBe(true);
  });

  it('forgets a worker when nobody has anything on it', () => {
    const loads = new SharedLoads();
    const counter = loads.counterFor(W);
    counter.add(null);
    loads.of('http://elsewhere:1').remote.change(1, 0);
    const sizes: number[] = [];
    const note = (): void => {
      loads.settle();
      loads.sweep();
      sizes.push(loads.size);
    };

    note();
    loads.retired(W, counter);
    note();
    counter.remove(null);
    note();
    loads.of('http://elsewhere:1').remote.change(-1, 0);
    note();
    counter.add(null);

    expect(sizes).toEqual([2, 2, 1, 0]);
    expect(loads.hasChanges, 'what is forgotten says nothing').toBe(false);
  });
});
