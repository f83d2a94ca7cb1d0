// Workers and an open-loop client in one process of their own, so that they share no event loop with the picker under test.
// Arguments: JSON {url, rate, seconds, workerPorts}. Prints one JSON line with the counts.
import http from 'node:http';

const { url, rate, seconds, workerPorts } = JSON.parse(process.argv[2]);
const MAX_IN_FLIGHT = 400;
const TICK_MS = 5;

const workers = await Promise.all(
  workerPorts.map(
    (port, index) =>
      new Promise((resolve) => {
        const server = http.createServer((request, response) => {
          request.resume();
          request.on('end', () => {
            response.setHeader('x-worker', index);
            response.end('ok');
          });
        });
        server.listen(port, '127.0.0.1', () => resolve(server));
      }),
  ),
);

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const counts = { sent: 0, right: 0, wrong: 0, failed: 0, skipped: 0, bodies: 0, statuses: {} };
let inFlight = 0;

function send() {
  if (inFlight >= MAX_IN_FLIGHT) {
    counts.skipped += 1;
    return;
  }
  const number = counts.sent;
  const wanted = String(number % workerPorts.length);
  const withBody = number % 10 === 0;
  counts.sent += 1;
  counts.bodies += withBody ? 1 : 0;
  inFlight += 1;
  const request = http.request(url, {
    agent,
    method: withBody ? 'POST' : 'GET',
    headers: { 'x-want': wanted, ...(withBody ? { 'content-type': 'application/json' } : {}) },
  });
  request.on('error', () => {
    inFlight -= 1;
    counts.failed += 1;
  });
  request.on('response', (response) => {
    response.resume();
    response.on('end', () => {
      inFlight -= 1;
      counts.statuses[response.statusCode] = (counts.statuses[response.statusCode] ?? 0) + 1;
      if (response.headers['x-worker'] === wanted) counts.right += 1;
      else counts.wrong += 1;
    });
  });
  request.end(withBody ? '{"prompt":"hello"}' : undefined);
}

const startedAt = performance.now();
let due = 0;
const timer = setInterval(() => {
  const elapsed = performance.now() - startedAt;
  while (due < Math.min(elapsed / 1000, seconds) * rate) {
    due += 1;
    send();
  }
  if (elapsed / 1000 < seconds || inFlight > 0) return;
  clearInterval(timer);
  agent.destroy();
  for (const worker of workers) worker.close();
  process.stdout.write(`${JSON.stringify(counts)}\n`);
}, TICK_MS);
