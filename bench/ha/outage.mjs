/** Redis goes away under load and comes back: known keys, new keys, and how soon the replicas agree again. */
import { setTimeout as pause } from 'node:timers/promises';
import { rounded } from '../lib/stats.mjs';
import { agreement } from './agreement.mjs';
import { countsOf, onStand } from './stand.mjs';

/** The first second of an outage is when it is noticed. */
const NOTICE_MS = 1000;
const WARM_UP_MS = 5000;
const AGREEMENT_MS = 1000;
const ADDED_P99_MS = 5;

/** @param how what ends Redis, and what brings it back */
export function outage(kit, { workers, replicas: count, seconds, ...settings }, how) {
  return onStand(
    kit,
    { replicas: count, workers, claimMs: settings['claim-timeout-ms'] },
    'redis',
    async (replicas, redis) => {
      const perSecond = settings['outage-rate'];
      const load = await kit.KeyLoad.start({ url: replicas.url, perSecond, place: 'header', turns: 5, apart: 0.3 });
      await pause(WARM_UP_MS);
      const calmAt = performance.now();
      await pause(seconds * 1000);
      const awayAt = performance.now();
      await how.begin(redis);
      await pause(seconds * 1000);
      const states = await replicas.sum('smg_envoy_pin_store_state', { state: 'up' });
      const returnedAt = performance.now();
      await how.end(redis);
      const backAt = performance.now();
      const agreedMs = await agreement(replicas, backAt);
      const agreedAt = performance.now();
      await pause(seconds * 1000);
      const replies = await load.stop();

      const calm = replies.between(calmAt, awayAt);
      const noticing = replies.between(awayAt, awayAt + NOTICE_MS);
      const away = replies.between(awayAt + NOTICE_MS, returnedAt);
      const added = rounded(away.quantile(0.99) - calm.quantile(0.99));
      const figures = {
        perSecond,
        ...countsOf(replies),
        calm: times(calm),
        noticing: times(noticing),
        away: times(away),
        addedP99Ms: added,
        split: {
          known: replies.of('known').splits.length,
          begunBefore: splitsOf(replies, 0, awayAt),
          begunAway: splitsOf(replies, awayAt, agreedAt),
          begunAfter: splitsOf(replies, agreedAt, Infinity),
        },
        replicasUpWhileAway: states,
        comeBackMs: rounded(backAt - returnedAt),
        agreedMs: rounded(agreedMs),
      };
      const problems = [];
      if (replies.errors.length > 0) problems.push(`${replies.errors.length} errors, the first: ${replies.errors[0]}`);
      if (replies.unpicked > 0) problems.push(`${replies.unpicked} requests without a pick`);
      if (figures.split.known > 0) problems.push(`${figures.split.known} conversations split that every replica knew`);
      if (figures.split.begunAfter > 0)
        problems.push(`${figures.split.begunAfter} conversations split that began after`);
      if (added > ADDED_P99_MS) problems.push(`${added} ms added at p99`);
      if (agreedMs > AGREEMENT_MS) problems.push(`agreed after ${agreedMs} ms`);
      return { ...figures, problems };
    },
  );
}

function times(replies) {
  const known = replies.of('known', 'later');
  const fresh = replies.of('first');
  return {
    knownP50Ms: rounded(known.quantile(0.5)),
    knownP99Ms: rounded(known.quantile(0.99)),
    newP50Ms: rounded(fresh.quantile(0.5)),
    newP99Ms: rounded(fresh.quantile(0.99)),
    newMaxMs: rounded(fresh.quantile(1)),
  };
}

/** How many conversations are split whose first request was due within these times. */
function splitsOf(replies, from, to) {
  const begun = new Set(
    replies
      .of('first')
      .between(from, to)
      .all.map(({ key }) => key),
  );
  return replies.where(({ key }) => begun.has(key)).splits.length;
}
