const MOST_SHOWN = 512;

/** What an engine says of its error, for the client to read: its message, else all of it, as SMG; null when it says nothing. */
export function upstreamMessage(body: Buffer): string | null {
  const text = body.toString();
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return shown(text);
  }
  const message = memberOf(memberOf(answer, 'error') ?? answer, 'message') ?? memberOf(answer, 'detail');
  return shown(typeof message === 'string' ? message : text);
}

function shown(text: string): string | null {
  const told = text.trim().slice(0, MOST_SHOWN);
  return told === '' ? null : told;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
