/**
 * Workers that answer a POST with the same short completion, all in this one process: `workers.mjs COUNT [HOLD-MS]`, at once
 * unless told to wait. Sends their ports. They do as little as they can, since they share the processor with what is measured.
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
      const answer = () => response.writeHead(known ? 200 : 404, headers).end(body);
      if (hold > 0 && request.method === 'POST') setTimeout(answer, hold);
      else answer();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports.push(server.address().port);
}
process.send(ports);
process.once('disconnect', () => process.exit());
