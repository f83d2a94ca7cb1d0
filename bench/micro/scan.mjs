/** Reading `rid` and `model` out of a body, against parsing all of it. */
import { chatBody, tokenBody } from '../lib/bodies.mjs';

const { readBody } = await import('../../dist/request/body-fields.js');
const { endpointOf } = await import('../../dist/request/endpoint.js');

const SIZES = [300, 1024, 10 * 1024, 100 * 1024, 220 * 1024, 1024 * 1024];

export function scanCases() {
  const endpoint = endpointOf('/v1/chat/completions');
  const bodies = SIZES.map((size) => ['chat', chatBody(size, 'conversation-1_t3')]);
  bodies.push(['token ids', tokenBody(220 * 1024, 'conversation-1_t3')]);
  return bodies.flatMap(([body, bytes]) => {
    const facts = { body, size: bytes.length };
    const scan = (count) => {
      for (let i = 0; i < count; i++) {
        if (readBody(bytes, true, endpoint).rid !== 'conversation-1_t3') throw new Error('the rid was not found');
      }
    };
    const parse = (count) => {
      for (let i = 0; i < count; i++) {
        if (JSON.parse(bytes.toString()).rid !== 'conversation-1_t3') throw new Error('the rid was not found');
      }
    };
    return [
      { name: 'scan', facts, run: scan },
      { name: 'JSON.parse', facts, run: parse, allocates: false },
    ];
  });
}
