import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { own } from '../lib/own.mjs';

/** An empty Redis without persistence. */
export async function startRedis() {
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--enable-debug-command',
    'local',
  ];
  const child = own(spawn('redis-server', args, { stdio: 'ignore' }));
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 20 });
  client.on('error', () => {});
  const info = await client.info('server');
  client.disconnect();
  return { url, pid: child.pid, version: /^redis_version:(\S+)/m.exec(info)?.[1], stop: () => child.kill() };
}

function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
