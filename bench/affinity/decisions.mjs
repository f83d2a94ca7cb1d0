/** What the service says of its own decisions, from `smg_envoy_decision_seconds` of those that read a body. */
import { rounded } from '../lib/stats.mjs';

const BUCKET = /^smg_envoy_decision_seconds_bucket\{(.*)\} (\S+)$/;
const QUICK_SECONDS = 0.001;

export async function decisionsOf(admin) {
  const answer = await fetch(`http://${admin}/metrics`);
  const buckets = [];
  for (const line of (await answer.text()).split('\n')) {
    const [, labels, count] = BUCKET.exec(line) ?? [];
    if (labels === undefined || !labels.includes('input="body"')) continue;
    const bound = /le="([^"]*)"/.exec(labels)?.[1];
    buckets.push({ seconds: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count: Number(count) });
  }
  buckets.sort((a, b) => a.seconds - b.seconds);
  const total = buckets.at(-1)?.count ?? 0;
  return {
    count: total,
    p50Ms: rounded(quantileMs(buckets, total, 0.5)),
    p99Ms: rounded(quantileMs(buckets, total, 0.99)),
    belowOneMs: rounded((buckets.find(({ seconds }) => seconds === QUICK_SECONDS)?.count ?? 0) / total),
  };
}

/** By a straight line within its bucket, as Prometheus does it. */
function quantileMs(buckets, total, share) {
  const rank = share * total;
  const at = buckets.findIndex(({ count }) => count >= rank);
  if (at < 0 || total === 0) return null;
  const { seconds, count } = buckets[at];
  const below = at === 0 ? { seconds: 0, count: 0 } : buckets[at - 1];
  if (seconds === Number.POSITIVE_INFINITY) return below.seconds * 1000;
  return (below.seconds + ((seconds - below.seconds) * (rank - below.count)) / (count - below.count)) * 1000;
}
