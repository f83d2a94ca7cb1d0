import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { load } from '../../test/support/try-load.ts';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { openSharedState, timesOf } from './shared-state.ts';

describe('a start that is refused', () => {
  it('leaves no connection to the store behind', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    let connections = 0;
    server.on('connection', () => connections++);
    const flags = `--pin-store redis://127.0.0.1:${port} --pin-key-hmac-file /no/such/file`;
    const { settings } = load({ flags });
    const log = createLog({ level: 'error', json: true });

    const opened = openSharedState(settings, { self: '0a0b0c0d', metrics: createMetrics(), log, clock: () => 0 });
    await expect(opened).rejects.toMatchObject({ code: 'unreadable_file' });

    // Connections come in the order in which they are begun.
    await new Promise((resolve) => setImmediate(resolve));
    const own = connect(port, '127.0.0.1');
    await once(own, 'close');
    server.close();
    expect(connections).toBe(1);
  });
});

describe('sticky-sessions 3.11 idle time of shared pins', () => {
  it.each([
    ['--max-idle-secs 60', 60_000],
    ['--max-idle-secs 0', 0],
    ['--max-idle-secs 60 --eviction-interval 0 --policy random', 0],
    ['--max-idle-secs 60 --policy manual --eviction-interval 0', 0],
  ])('%s: %i ms', (flags, maxIdleMs) => {
    expect(timesOf(load({ flags }).settings).maxIdleMs).toBe(maxIdleMs);
  });
});
