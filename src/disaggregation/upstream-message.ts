const MOST_SHOWN = 512;

/** What an engine says of its error, for the client to read; null when it says nothing that can be read. */
export function upstreamMessage(body: Buffer): string | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString());
  } catch {
    return null;
  }
  const message = memberOf(memberOf(answer, 'error') ?? answer, 'message') ?? memberOf(answer, 'detail');
  return typeof message === 'string' && message !== '' ? message.slice(0, MOST_SHOWN) : null;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
