import type { Check, Findings } from '../check.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../outcome.ts';
import type { Body, BodyEnd, Plan } from '../plan.ts';
import { served } from '../requests.ts';

const SIZES = [0, 1, 62_000, 62_001, 65_536, 1_048_576];
const ENDS: readonly (readonly [BodyEnd, string])[] = [
  ['flag', 'the flag on the last piece'],
  ['empty_flag', 'an empty last piece'],
  ['trailers', 'trailers'],
  ['twice', 'the end sent twice'],
];
/** Envoy sends pieces of up to 1 MB (envoy 4.6). */
const LARGEST_PIECE = 1_000_000;

/** P5: every byte of a body comes back, in order, with its end, whatever its size and however it ends. */
export const fullDuplexBodies: Check = {
  id: 'P5',
  title: 'Full duplex gives bodies back byte for byte, 0 B to 50 MiB, with and without trailers',
  source: 'Endpoint Picker Protocol: streaming; envoyproxy/envoy#46237',
  async run(context, findings) {
    for (const size of SIZES.filter((bytes) => bytes <= context.load.largestBody)) {
      await Promise.all(ENDS.map(([end, name]) => request(context, findings, size, end, name)));
      await Promise.all(ENDS.map(([end, name]) => response(context, findings, size, end, name)));
    }
    for (const [end, name] of [ENDS[1], ENDS[2]].flatMap((pair) => (pair === undefined ? [] : [pair]))) {
      await request(context, findings, context.load.largestBody, end, name);
    }
    await response(context, findings, context.load.largestBody, 'flag', 'the flag on the last piece');
  },
};

async function request(context: Context, findings: Findings, size: number, end: BodyEnd, how: string): Promise<void> {
  const { body: bytes, type } = context.requests.sized(size);
  const body = inPieces(bytes, end);
  const title = `request body of ${size} bytes that ends with ${how}`;
  const plan = context.requests.plan(title, {
    body,
    headers: context.requests.posting(body, type),
    ignoresTrailers: true,
  });
  judge(findings, await context.play(plan), 'request', bytes, end);
}

async function response(context: Context, findings: Findings, size: number, end: BodyEnd, how: string): Promise<void> {
  const { body: bytes } = context.requests.sized(size);
  const title = `response body of ${size} bytes that ends with ${how}`;
  const changes: Partial<Plan> = { response: { ...served(null), body: inPieces(bytes, end) }, ignoresTrailers: true };
  judge(findings, await context.play(context.requests.plan(title, changes)), 'response', bytes, end);
}

function judge(findings: Findings, outcome: Outcome, of: 'request' | 'response', sent: Buffer, end: BodyEnd): void {
  const { refusal } = outcome;
  if (refusal !== null && refusal.status >= 400 && refusal.status < 500) {
    findings.unjudged(outcome.title, `the picker refused the request with ${refusal.status}`);
    return;
  }
  const pieces = outcome.echo(of);
  const came = Buffer.concat(pieces.map(({ bytes }) => bytes));
  const flags = pieces.filter(({ endOfStream }) => endOfStream).length;
  const wanted = end === 'trailers' ? 0 : 1;
  const flagged = flags === wanted && (wanted === 0 || pieces.at(-1)?.endOfStream === true);
  findings.expect(
    came.equals(sent) && flagged,
    outcome.title,
    `the same bytes${wanted === 1 ? ' with the end flag on the last piece' : ', no end flag before the trailers'}`,
    `${came.length} bytes${came.equals(sent) ? '' : differs(came, sent)}, ${flags} end flags; ${outcome.summary}`,
  );
}

function differs(came: Buffer, sent: Buffer): string {
  const length = Math.min(came.length, sent.length);
  let at = 0;
  while (at < length && came[at] === sent[at]) at += 1;
  return ` that differ from byte ${at} on`;
}

/** Uneven pieces, none empty unless the body is. */
function inPieces(bytes: Buffer, end: BodyEnd): Body {
  if (bytes.length === 0) return { pieces: end === 'flag' || end === 'twice' ? [bytes] : [], end };
  const pieces: Buffer[] = [];
  const first = Math.ceil(bytes.length / 7);
  for (let from = 0; from < bytes.length; ) {
    const size = Math.min(from === 0 ? first : bytes.length, LARGEST_PIECE);
    pieces.push(bytes.subarray(from, from + size));
    from += size;
  }
  return { pieces, end };
}
