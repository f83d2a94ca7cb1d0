import { describe, expect, it } from 'vitest';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { linkObserver } from './store-observers.ts';

function observed() {
  const lines: string[] = [];
  const destination = {
    write: (text: string) => {
      const { msg, count } = JSON.parse(text) as { msg: string; count?: number };
      lines.push(
        `${msg.replace(/[;:] .*/, '').replace('the pin store ', '')}${count === undefined ? '' : ` ×${count}`}`,
      );
    },
  };
  const world = { now: 0 };
  const metrics = createMetrics();
  const log = createLog({ level: 'info', json: true, destination });
  return { world, lines, metrics, observer: linkObserver(metrics, log, () => world.now) };
}

describe('lines on the store', () => {
  it('come at once for a store that is away and back', () => {
    const { lines, observer } = observed();
    observer.stateChanged('up', 'down');
    observer.troubled('connection', 'away');
    observer.stateChanged('down', 'up');
    expect(lines).toEqual(['answers', 'the pin store', 'is away']);
  });

  it('do not repeat themselves for 10 s while it flaps, and tell how often it did and how it stands', () => {
    const { world, lines, metrics, observer } = observed();
    observer.stateChanged('up', 'down');
    for (world.now = 500; world.now <= 5000; world.now += 500) {
      observer.troubled('cluster', 'a part is away');
      observer.stateChanged('down', 'up');
      observer.stateChanged('up', 'down');
    }
    expect(lines.splice(0)).toEqual(['answers', 'the pin store', 'is away']);

    world.now = 9999;
    observer.probed(1);
    expect(lines).toEqual([]);
    world.now = 10_000;
    observer.probed(1);
    observer.probed(1);
    expect(lines.splice(0)).toEqual(['answers ×10']);

    world.now = 10_400;
    observer.troubled('cluster', 'a part is away');
    observer.stateChanged('down', 'up');
    expect(lines).toEqual([]);
    world.now = 10_500;
    observer.failed('cluster');
    expect(lines.splice(0)).toEqual(['is away ×10']);
    world.now = 99_000;
    observer.stateChanged('up', 'down');
    observer.probed(1);
    expect(lines.splice(0)).toEqual(['answers']);
    expect(metrics.pinStoreStateChanges.cell('down').value).toBe(11);
    expect(metrics.pinStoreStateChanges.cell('up').value).toBe(12);
    expect(metrics.pinStoreState.cell('up').value).toBe(1);
  });

  it('do not repeat the loss of the subscription either', () => {
    const { world, lines, metrics, observer } = observed();
    for (; world.now <= 10_000; world.now += 1000) observer.unsubscribed('auth', 'NOPERM');

    expect(lines.length).toBe(2);
    expect(lines[1]).toMatch(/ ×10$/);
    expect(metrics.pinStoreSubscribed.cell().value).toBe(0);

    observer.subscribed();
    observer.subscribed();
    expect(lines.slice(2)).toEqual(['changes of pins by other replicas are heard again']);
    expect(metrics.pinStoreSubscribed.cell().value).toBe(1);
  });
});
