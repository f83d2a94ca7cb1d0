import type { Context, LoadMinded } from './context.ts';
import { headersMessage, metadataOf, protocolOf } from './messages.ts';
import { FILTER, LB_NAMESPACE, SERVED, SUBSET, SUBSET_NAMESPACE } from './names.ts';
import { FULL_DUPLEX } from './plan.ts';
import type { ProcessStream } from './process-stream.ts';
import { served } from './requests.ts';

const LARGEST_SAMPLE = 300;
/** Fewer hits than that are chance, as for one endpoint of very many. */
const FEWEST_HITS = 4;

/** Nothing failed: else a picker with circuit breakers takes the endpoint that it picked out. */
const FIRST_ATTEMPT = { 'upstream.request_attempt_count': 1 };

/** How ordinary requests spread: endpoint to share, 0 to 1. */
export type Shares = ReadonlyMap<string, number>;

/** Sends ordinary, complete requests, one after another, and notes where they go first. */
export async function spread(context: Context): Promise<Shares> {
  const { endpoints } = await context.fleet();
  const sample = Math.min(LARGEST_SAMPLE, Math.max(context.load.sample, 4 * endpoints.length));
  const shares = new Map<string, number>();
  for (let i = 0; i < sample; i += 1) {
    const outcome = await context.play(context.requests.plan('an ordinary request', { response: served(null) }));
    if (outcome.first !== null) shares.set(outcome.first, (shares.get(outcome.first) ?? 0) + 1 / sample);
  }
  return shares;
}

/**
 * Opens requests that the hint sends to one endpoint, and leaves them running.
 *
 * @param servedBy endpoint that is reported as the one that answers; null leaves the response phase out
 * @returns what ends them
 */
export async function hold(context: Context, endpoint: string, servedBy: string | null): Promise<() => Promise<void>> {
  const { connection, requests } = context;
  const metadataContext = metadataOf({ [SUBSET_NAMESPACE]: { [SUBSET]: [endpoint] } });
  const streams: ProcessStream[] = [];
  for (let i = 0; i < context.load.held; i += 1) {
    const stream = connection.open();
    streams.push(stream);
    const headers = headersMessage('request', requests.headers('GET', '/v1/models'), true);
    await stream.send({ ...headers, metadataContext, protocolConfig: protocolOf(FULL_DUPLEX) });
    await stream.until(() => stream.entries.some((entry) => entry.from === 'picker'));
    if (servedBy === null) continue;
    const answer = headersMessage('response', served(null).headers, false);
    await stream.send({
      ...answer,
      metadataContext: metadataOf({ [LB_NAMESPACE]: { [SERVED]: servedBy } }),
      attributes: { [FILTER]: FIRST_ATTEMPT },
    });
    await stream.until(() =>
      stream.entries.some((entry) => entry.kind === 'responseHeaders' && entry.from === 'picker'),
    );
  }
  return async () => {
    for (const stream of streams) stream.halfClose();
    for (const stream of streams) if (!(await stream.ended())) stream.reset();
  };
}

/**
 * Tries whether requests that run on an endpoint keep others away; null when they do not, or it can't be told. Those that a
 * picker charges to an endpoint until its next report, running or not, tell nothing of counts.
 */
export async function tryLoad(context: Context): Promise<LoadMinded | null> {
  const usual = await spread(context);
  const [first, second] = [...usual].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] * context.load.sample < FEWEST_HITS) return null;
  const [busiest, share] = first;
  const other = second?.[0] ?? (await context.fleet()).endpoints.find((endpoint) => endpoint !== busiest);
  if (other === undefined) return null;
  const release = await hold(context, busiest, busiest);
  const loaded = (await spread(context)).get(busiest) ?? 0;
  await release();
  if (loaded > share / 4) return null;
  await (await hold(context, busiest, busiest))();
  const after = (await spread(context)).get(busiest) ?? 0;
  return after > share / 4 ? { busiest, share, other } : null;
}
