import { Http1Connection } from '../end-to-end/http1-connection.mjs';

const HOST = '127.0.0.1';

/**
 * Sends the prompts in their order over some connections, each of which sends as soon as it has its answer.
 *
 * @returns the name of the worker that served each of them, in their order; empty for one that failed
 */
export async function play(port, prompts, connections) {
  const pool = Array.from({ length: connections }, () => new Http1Connection(port, HOST));
  await Promise.all(pool.map((connection) => connection.opened()));
  const served = prompts.map(() => '');
  let next = 0;
  const work = (connection) =>
    new Promise((resolve) => {
      const step = () => {
        if (next === prompts.length || !connection.usable) {
          resolve();
          return;
        }
        const number = next++;
        connection.send(requestOf(port, prompts[number].body), ({ status, worker }) => {
          if (status === 200) served[number] = worker;
          step();
        });
      };
      step();
    });
  await Promise.all(pool.map(work));
  for (const connection of pool) connection.close();
  return served;
}

function requestOf(port, body) {
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: ${HOST}:${port}`,
    'accept: application/json',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  return [`${lines.join('\r\n')}\r\n\r\n`, body];
}
