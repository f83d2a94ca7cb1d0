/** Request bodies of a chat: text with quotes, line feeds and letters beyond ASCII, as prompts have them. */

const TEXT =
  'The worker said: "the cache is warm", and the next turn of the conversation went to the same place.\n' +
  'Ein Gespräch bleibt, wo sein Anfang liegt — c’est la même machine.\n\tif (turn > 1) return pinned;\n';
const MESSAGE_CHARACTERS = 4000;

/** Everything behind the opening brace and the first member, so that a body of `bytes` results with a `rid` before it. */
export function chatTail(bytes) {
  const messages = [];
  const tail = () => Buffer.from(`,"model":"bench","stream":false,"messages":${JSON.stringify(messages)}}`);
  // A message is filled until the next character would be too much, then another one begins.
  for (let left = bytes - tail().length; left > 40; left = bytes - tail().length) {
    const content = TEXT.repeat(Math.ceil(MESSAGE_CHARACTERS / TEXT.length));
    const role = messages.length % 2 === 0 ? 'user' : 'assistant';
    const message = { role, content: content.slice(0, Math.min(MESSAGE_CHARACTERS, left)) };
    messages.push(message);
    while (tail().length > bytes && message.content !== '') {
      message.content = message.content.slice(0, message.content.length - Math.max(1, (tail().length - bytes) >> 1));
    }
  }
  return tail();
}

/** A chat body of about `bytes`, with the `rid` of a conversation. */
export function chatBody(bytes, rid) {
  const front = Buffer.from(`{"rid":${JSON.stringify(rid)}`);
  return Buffer.concat([front, chatTail(bytes - front.length)]);
}

/** A body whose prompt is token ids. */
export function tokenBody(bytes, rid) {
  const front = `{"rid":${JSON.stringify(rid)},"model":"bench","input_ids":[`;
  const ids = [];
  for (let size = front.length + 2; size < bytes; size += 6) ids.push(10_000 + ((ids.length * 7919) % 89_999));
  return Buffer.from(`${front}${ids.join(',')}]}`);
}
