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
    // Long enough for many kills, whatever the machine plays in a second.
    const { figures, replies } = await played(kit, settings, replicas, place).finally(() => {
      over = true;
    });
    await killer;
    const problems = place === 'header' ? problemsIn(replies) : errorsIn(replies);
    return { ...figures, kills, problems };
  });
}

const errorsIn = ({ errors }) => (errors.length > 0 ? [`${errors.length} errors, the first: ${errors[0]}`] : []);

const optionsOf = ({ replicas, workers }) => ({ replicas, workers });

async function played(kit, settings, replicas, place) {
  const { conversations, turns, racing, abreast } = settings;
  const started = performance.now();
  const replies = await kit.spray({ url: replicas.url, conversations, turns, racing, abreast, place });
  const seconds = (performance.now() - started) / 1000;
  const placed = await replicas.placed();
  return {
    replies,
    figures: { place, ...countsOf(replies), perSecond: Math.round(replies.all.length / seconds), placed },
  };
}
