/** Prompts of conversations: some beginnings, each of which goes on in many ways. The same for every run. */

/** Beginnings, and prompts of each. */
export const PREFIXES = 100;
const TURNS = 50;
export const PROMPTS = PREFIXES * TURNS;

const TEXT_CHARS = 4000;
const TOKENS = 512;
/** Share of a prompt that is its own. */
const OWN_SHARE = 8;

const LETTERS = 'etaoin shrdlu cmfwyp vbgkjqxz "\n';

/** Whole numbers below a bound, the same for the same seed. */
export function randomFrom(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** A string in one piece, as decoded bodies give it. */
export function letters(random, count) {
  const bytes = Buffer.allocUnsafe(count);
  for (let i = 0; i < count; i++) bytes[i] = LETTERS.charCodeAt(random(LETTERS.length));
  return bytes.toString('latin1');
}

export function ids(random, count) {
  return Array.from({ length: count }, () => 10_000 + random(89_999));
}

const own = (i) => randomFrom(1_000_000 + i);
const shared = (i) => randomFrom(1 + (i % PREFIXES));

/** Text of the i-th prompt. */
export function textOf(i) {
  const mine = TEXT_CHARS / OWN_SHARE;
  const text = `${letters(shared(i), TEXT_CHARS - mine)}${letters(own(i), mine)}`;
  return Buffer.from(text, 'latin1').toString('latin1');
}

export function tokensOf(i) {
  const mine = TOKENS / OWN_SHARE;
  return Uint32Array.from([...ids(shared(i), TOKENS - mine), ...ids(own(i), mine)]);
}

/** Turns of a chat; the first of which shares a system prompt with others. */
const CHAT_TURNS = 4;

/** A short prompt of the i-th turn of many chats, and the number of its chat: what fills a tree with many nodes. */
export function turnOf(i) {
  const chat = Math.floor(i / CHAT_TURNS);
  const system = `system prompt number ${chat % 100} of many: `;
  const history = `${chat.toString(36)} asks and is told what it wants to know, `.repeat(1 + (i % CHAT_TURNS));
  return { chat, text: `${system}${history}turn ${i}${' and so on'.repeat(4)}` };
}

/** Nodes that a turn makes in the mean. */
export const NODES_OF_A_TURN = { text: 1.89, tokens: 1.5 };

/** A token for each four characters. */
export function tokensFrom(text) {
  const tokens = new Uint32Array(Math.max(Math.ceil(text.length / 4), 1));
  for (let i = 0; i < tokens.length; i++) {
    let hash = 17;
    for (let k = i * 4; k < i * 4 + 4; k++) hash = Math.imul(hash, 31) + text.charCodeAt(k % text.length);
    tokens[i] = hash & 0x1ffff;
  }
  return tokens;
}

/** The same text as one string in one piece, as decoded bodies give it. */
export function flat(text) {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

export function chatOf(content) {
  return Buffer.from(JSON.stringify({ model: 'bench', stream: false, messages: [{ role: 'user', content }] }));
}

export function generateOf(tokens) {
  return Buffer.from(`{"model":"bench","input_ids":[${tokens.join(',')}]}`);
}
