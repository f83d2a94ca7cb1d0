/** Conversations whose turns go to any replica, their first turns racing; and the same while replicas are killed. */
import { setTimeout as pause } from 'node:timers/promises';
import { countsOf, onStand, problemsIn } from './stand.mjs';

/** The same without a shared store, fewer of them: how many would be split. */
export async function withoutStore(kit, settings) {
  const few = { ...settings, conversations: Math.min(1000, settings.conversations) };
  return onStand(kit, optionsOf(settings), 'memory', async (replicas) => {
    return { ...(await played(kit, few, replicas, 'header')).figures, problems: [] };
  });
}

/** @param options of the stand, beside the usual ones */
export function sprayed(kit, settings, place, options = {}) {
  return onStand(kit, { ...optionsOf(settings), ...options }, 'redis', async (replicas) => {
    const { figures, replies } = await played(kit, settings, replicas, place);
    return { ...figures, problems: problemsIn(replies) };
  });
}

/** One replica after the other is killed and started again. */
export function killing(kit, settings, place) {
  return onStand(kit, optionsOf(settings), 'redis', async (replicas) => {
    let over = false;
    let kills = 0;
    const killer = (async () => {
      for (; !over; kills++) {
        const next = pause(settings['kill-every-ms']);
        const victim = replicas.services[kills % replicas.services.length];
        await victim.kill();
        await victim.start();
        await next;
      }
    })();
    const replies = await play(kit, settings, replicas, place).finally(() => {
      over = true;
    });
    await killer;
    const problems = place === 'header' ? problemsIn(replies) : errorsIn(replies);
    return { place, ...countsOf(replies), kills, alone: await askedInVain(replicas), problems };
  });
}

const errorsIn = ({ errors }) => (errors.length > 0 ? [`${errors.length} errors, the first: ${errors[0]}`] : []);

const optionsOf = ({ replicas, workers, ...more }) => ({ replicas, workers, claimMs: more['claim-timeout-ms'] });

function play(kit, { conversations, turns, racing, abreast }, { url }, place) {
  return kit.spray({ url, conversations, turns, racing, abreast, place });
}

async function played(kit, settings, replicas, place) {
  const replies = await play(kit, settings, replicas, place);
  const [placed, alone] = [await replicas.placed(), await askedInVain(replicas)];
  return { replies, figures: { place, ...countsOf(replies), placed, alone } };
}

/** New keys that a replica decided alone, since its last start. */
async function askedInVain(replicas) {
  let count = 0;
  for (const result of ['late', 'failed', 'behind']) {
    count += await replicas.sum('smg_envoy_pin_store_asks_total', { result });
  }
  return count;
}
