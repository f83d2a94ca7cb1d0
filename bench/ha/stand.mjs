/**
 * No key moves because two requests of it run at once: what splits is the store's doing then. A header key is taken from the
 * head, so that a replica that is killed leaves no body half read.
 */
const FLAGS = ['--pin-inflight-cap', '0', '--routing-key-order', 'header-first'];
/** The trigger as it is delivered: two requests of a key in flight. */
export const WITH_TRIGGER = ['--routing-key-order', 'header-first'];

/**
 * Runs `work` on replicas that share an own Redis, or share nothing.
 *
 * @param store `redis` or `memory`
 */
export async function onStand(kit, { workers, flags = FLAGS, claimMs, ...options }, store, work) {
  const redis = store === 'redis' ? await kit.startRedis() : null;
  try {
    const replicas = await kit.startReplicas({
      ...{ store: redis?.url ?? 'memory', sim: { count: workers }, concurrency: 2 },
      flags: [...flags, ...(store === 'redis' ? ['--pin-claim-timeout-ms', String(claimMs)] : [])],
      ...options,
    });
    try {
      return await work(replicas, redis);
    } finally {
      await replicas.close();
    }
  } finally {
    await redis?.stop();
  }
}

/** What must not be, of replies all of which should be well. */
export function problemsIn(replies) {
  const { errors, splits } = replies;
  return [
    ...(errors.length > 0 ? [`${errors.length} errors, the first: ${errors[0]}`] : []),
    ...(splits.length > 0 ? [`${splits.length} split conversations, the first: ${splits[0]}`] : []),
  ];
}

/** The figures of replies that a table shows. */
export function countsOf(replies) {
  const { all, conversations, errors, splits, unpicked, perSecond } = replies;
  return {
    requests: all.length,
    perSecond: Math.round(perSecond),
    conversations,
    errors: errors.length,
    splits: splits.length,
    unpicked,
  };
}
