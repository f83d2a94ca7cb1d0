import { fork } from 'node:child_process';
import { own } from '../lib/own.mjs';

/** A program of this folder in a process of its own; it ends with this one. */
function launch(name, args = []) {
  return own(fork(new URL(name, import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
}

function nextMessage(child, name) {
  return new Promise((resolve, reject) => {
    const ended = (code) => reject(new Error(`${name} ended with code ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

/**
 * A load client. Its orders are those of its program, one at a time.
 *
 * @param program beside this file
 */
export function startClient(program = 'load-client.mjs') {
  const child = launch(program);
  const sent = new Map();
  return {
    pid: child.pid,
    /** Requests sent so far, by variant. */
    sent,
    async ask(order) {
      const answer = nextMessage(child, 'the load client');
      child.send(order);
      const { result, error } = await answer;
      if (error !== undefined) throw new Error(error);
      sent.set(order.name, (sent.get(order.name) ?? 0) + result.sent);
      return result;
    },
    stop: () => child.disconnect(),
  };
}

/**
 * Workers; resolves with their base URLs when they listen.
 *
 * @param holdMs what each takes for an answer
 */
export async function startWorkers(count, holdMs = 0) {
  const child = launch('workers.mjs', [String(count), String(holdMs)]);
  const ports = await nextMessage(child, 'the workers');
  return { urls: ports.map((port) => `http://127.0.0.1:${port}`), stop: () => child.disconnect() };
}
