import { connect, createServer } from 'node:net';

/**
 * Below the range that systems take client ports from: a port that stays free between a stop and a start, since no
 * outgoing connection happens to get it.
 */
const FIRST = 10_240;
const LAST = 32_000;
const TRIES = 200;

/** Test files that run at the same time take from ranges of their own: a port stays free while its owner restarts. */
const RANGES = 8;
const SIZE = Math.floor((LAST - FIRST) / RANGES);
const START = FIRST + SIZE * (Number(process.env['VITEST_POOL_ID'] ?? 0) % RANGES);

/** Ports given to this process: who asked may not have bound his yet. */
const given = new Set<number>();

/** A TCP port that is free now and was not given before, and `count - 1` after it. */
export async function freePort(host = '127.0.0.1', count = 1): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const first = START + Math.floor(Math.random() * (SIZE - count));
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if (ports.some((port) => given.has(port))) continue;
    for (const port of ports) given.add(port);
    const free = await Promise.all(ports.map((port) => isFree(host, port)));
    if (free.every(Boolean)) return first;
  }
  throw new Error(`no ${count} free ports in a row on ${host}`);
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** Whether something accepts connections there. */
export function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
