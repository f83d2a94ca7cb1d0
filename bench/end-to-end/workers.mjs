/**
 * Workers that answer a POST with the same short completion, all in this one process: `workers.mjs COUNT [HOLD-MS]`, at once
 * unless told to wait. Sends their ports. A request may ask for another
 * pause (`x-bench-hold`, milliseconds) or for an answer in events (`x-bench-events`, a number, every `x-bench-every`
 * milliseconds). They do as little as they can, since they share the processor with what is measured.
 */
import { createServer } from 'node:http';

const [COUNT = 1, HOLD_MS = 0] = process.argv.slice(2).map(Number);
const ANSWER = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'It went to the same place. '.repeat(12) },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 200, completion_tokens: 80, total_tokens: 280 },
});
const MODELS = JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model' }] });

const EVENT = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'It went to the same place. ' } }] })}\n\n`;

/** An answer in events, each in a turn of its own at least. */
function stream(response, name, events, everyMs) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-bench-worker': name });
  let left = events;
  const next = () => {
    if (response.destroyed) return;
    left -= 1;
    if (left === 0) response.end(EVENT);
    else {
      response.write(EVENT);
      if (everyMs > 0) setTimeout(next, everyMs);
      else setImmediate(next);
    }
  };
  next();
}

const ports = [];
for (let i = 0; i < COUNT; i++) {
  const name = `w${i}`;
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    request.resume();
    request.on('end', () => {
      const known = request.method === 'POST' || request.url === '/v1/models' || request.url === '/health';
      const body = request.url === '/v1/models' ? MODELS : ANSWER;
      const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-bench-worker': name };
      const hold = Number(request.headers['x-bench-hold'] ?? HOLD_MS);
      const events = Number(request.headers['x-bench-events'] ?? 0);
      const answer = () => {
        if (events > 0) stream(response, name, events, Number(request.headers['x-bench-every'] ?? 0));
        else response.writeHead(known ? 200 : 404, headers).end(body);
      };
      if (hold > 0 && request.method === 'POST') setTimeout(answer, hold);
      else answer();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports.push(server.address().port);
}
process.send(ports);
process.once('disconnect', () => process.exit());
