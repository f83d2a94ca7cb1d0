/** What a policy that looks at the prompt pays for it: text, tokens and cache namespace of a body whose members were found. */
import { chatBody, tokenBody } from '../lib/bodies.mjs';

const { readBody } = await import('../../dist/request/body-fields.js');
const { BodyPrompt } = await import('../../dist/request/body-prompt.js');
const { endpointOf } = await import('../../dist/request/endpoint.js');

const SIZES = [300, 32 * 1024, 220 * 1024, 1024 * 1024];
const HEAD = { method: 'POST', path: '/v1/chat/completions', endOfStream: false, first: () => undefined };
const PLAIN = 'The next turn of the conversation went to the same place, where its beginning was still warm. ';
const ESCAPES = 'She said:\n\t"It is \\"warm\\"",\n\tand\n\tit\n\twas.\n';
const WIDE = '会話の続きは、始まりがまだ温かい同じ場所に届いた。';

export function promptTextCases() {
  const chat = endpointOf('/v1/chat/completions');
  const bodies = SIZES.flatMap((size) => [
    ['one message of plain ASCII', chat, oneMessage(size, PLAIN)],
    ['one message full of escapes', chat, oneMessage(size, ESCAPES)],
    ['one message beyond Latin', chat, oneMessage(size, WIDE)],
    ['conversation', chat, chatBody(size, 'conversation-1_t3')],
    ['token ids', endpointOf('/generate'), tokenBody(size, 'conversation-1_t3')],
  ]);
  const cases = bodies.map(([name, endpoint, bytes]) => {
    const { members } = readBody(bytes, true, endpoint);
    const run = (count) => {
      for (let i = 0; i < count; i++) {
        const prompt = new BodyPrompt(HEAD, endpoint.kind, members);
        if (prompt.tokens === null && prompt.text === '') throw new Error('no prompt was found');
      }
    };
    // What becomes a large object is not part of the heap that is looked at: more would mislead.
    return { name, facts: { size: bytes.length }, run, allocates: bytes.length < 1024 };
  });
  const { members } = readBody(Buffer.from('{"cache_salt":"tenant-7","lora_path":"adapters/7"}'), true, chat);
  cases.push({
    name: 'cache namespace',
    facts: { size: members.bytes.length },
    run(count) {
      for (let i = 0; i < count; i++) {
        if (new BodyPrompt(HEAD, 'chat', members).namespace === null) throw new Error('no namespace was found');
      }
    },
  });
  cases.push({
    name: 'nothing asked for',
    facts: { size: 0 },
    run(count) {
      for (let i = 0; i < count; i++) kept = new BodyPrompt(HEAD, 'chat', null);
      if (kept === null) throw new Error('no prompt was made');
    },
  });
  return cases;
}

/** What is kept is not optimized away. */
let kept = null;

/** A chat body of about `bytes`, all of it one message. */
function oneMessage(bytes, text) {
  const front = '{"model":"bench","messages":[{"role":"user","content":';
  const size = Buffer.byteLength(JSON.stringify(text)) - 2;
  const content = JSON.stringify(text.repeat(Math.max(1, Math.floor((bytes - front.length) / size))));
  return Buffer.from(`${front}${content}}]}`);
}
