/** Two replicas that are restarted one after the other, as an operator does, under load. */
import { rounded } from '../lib/stats.mjs';
import { countsOf, onStand, problemsIn } from './stand.mjs';

export function rolling(kit, settings) {
  const { workers, rounds } = settings;
  return onStand(kit, { replicas: 2, workers, claimMs: settings['claim-timeout-ms'] }, 'redis', async (replicas) => {
    const perSecond = settings['rolling-rate'];
    const load = await kit.KeyLoad.start({
      url: replicas.url,
      perSecond,
      known: 500,
      turns: 4,
      apart: 2,
      place: 'header',
    });
    const codes = [];
    for (let round = 0; round < rounds; round++) {
      for (const service of replicas.services) {
        await service.stop(60_000);
        codes.push(service.exitCode);
        await service.start();
        await replicas.whole();
      }
    }
    const replies = await load.stop();
    const problems = problemsIn(replies);
    if (codes.some((code) => code !== 0)) problems.push(`exit codes ${codes.join(' ')}`);
    const times = { p50Ms: rounded(replies.quantile(0.5)), p99Ms: rounded(replies.quantile(0.99)) };
    return { restarts: codes.length, ...countsOf(replies), ...times, problems };
  });
}
