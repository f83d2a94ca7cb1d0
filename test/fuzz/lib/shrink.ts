import type { Target } from './target.ts';

const MOST_TRIES = 4000;

/** A shorter input that fails in the same way. */
export async function shrink(target: Target, input: Buffer, message: string): Promise<Buffer> {
  const wanted = kindOf(message);
  const fails = async (bytes: Buffer): Promise<boolean> => {
    const found = await failureOf(target, bytes);
    return found !== null && kindOf(found) === wanted;
  };
  let best = input;
  let tries = 0;
  for (let size = input.length >> 1; size > 0 && tries < MOST_TRIES; size >>= 1) {
    for (let at = 0; at + size <= best.length && tries < MOST_TRIES; tries++) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if (await fails(shorter)) best = shorter;
      else at += size;
    }
  }
  return best;
}

/** The message of what it throws, null when nothing. */
export async function failureOf(target: Target, input: Buffer): Promise<string | null> {
  try {
    await target.check(input);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** Messages tell numbers and values, which differ from input to input: the first words do not. */
function kindOf(message: string): string {
  return message.split(/[:\n]/, 2).join(':').replaceAll(/\d+/g, '#').slice(0, 80);
}
