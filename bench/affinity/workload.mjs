/** Chats that share their beginnings, as those of many users with one of some system prompts do, in an order by chance. */
import { chatOf, letters, randomFrom } from '../micro/conversations.mjs';

/** Share of a prompt that is its own. */
const OWN_SHARE = 8;

/** `{ prefix, body }` for each request. The same for the same round. */
export function promptsOf({ prefixes, turns, bytes }, round) {
  const own = Math.floor(bytes / OWN_SHARE);
  const random = randomFrom(round);
  const prompts = [];
  for (let prefix = 0; prefix < prefixes; prefix++) {
    const shared = letters(random, bytes - own);
    for (let turn = 0; turn < turns; turn++) {
      prompts.push({ prefix, body: chatOf(`${shared}${letters(random, own)}`) });
    }
  }
  return shuffled(prompts, random);
}

function shuffled(list, random) {
  for (let i = list.length - 1; i > 0; i--) {
    const other = random(i + 1);
    [list[i], list[other]] = [list[other], list[i]];
  }
  return list;
}
