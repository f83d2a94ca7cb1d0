import { createHash } from 'node:crypto';

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The model of the simulated workers: a pin belongs to the model that the request names. */
export const MODEL = 'sim-model';
const MODEL_MEMBER = `"model":"${MODEL}"`;

/** A chat body of exactly `size` bytes whose `rid` stands at its very end, or at its very beginning. */
export function chatBody(rid: string, size: number, at: 'end' | 'start' = 'end'): Buffer {
  const member = `"rid":${JSON.stringify(rid)}`;
  const open = at === 'start' ? `{${MODEL_MEMBER},${member},"content":"` : `{${MODEL_MEMBER},"content":"`;
  const close = at === 'start' ? '"}' : `",${member}}`;
  const filler = size - Buffer.byteLength(open) - Buffer.byteLength(close);
  if (filler < 0) throw new Error(`${size} bytes do not hold this body`);
  return Buffer.from(open + 'prompt '.repeat(Math.ceil(filler / 7)).slice(0, filler) + close);
}

/** A body in pieces, so that it goes out chunked. */
export function pieces(body: Buffer, bytes = 100_000): readonly Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at < body.length; at += bytes) out.push(body.subarray(at, at + bytes));
  return out;
}
