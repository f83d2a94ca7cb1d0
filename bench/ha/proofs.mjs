import { costs } from './costs.mjs';
import { moves } from './moves.mjs';
import { outage } from './outage.mjs';
import { rolling } from './rolling.mjs';
import { killing, sprayed, withoutStore } from './sprayed.mjs';
import { WITH_TRIGGER } from './stand.mjs';

/** By name; each answers with figures and with what must not have been. */
export const PROOFS = {
  /** What it would be without a shared store. */
  'memory-store': withoutStore,
  spray: (kit, settings) => sprayed(kit, settings, 'header'),
  'spray-rid': (kit, settings) => sprayed(kit, settings, 'rid'),
  'spray-trigger': (kit, settings) => sprayed(kit, settings, 'header', { flags: WITH_TRIGGER }),
  kills: (kit, settings) => killing(kit, settings, 'header'),
  'kills-rid': (kit, settings) => killing(kit, settings, 'rid'),
  rolling,
  moves,
  'redis-killed': (kit, settings) => outage(kit, settings, KILLED),
  'redis-stopped': (kit, settings) => outage(kit, settings, STOPPED),
  costs,
};

const KILLED = { begin: (redis) => redis.kill(), end: (redis) => redis.restart() };
const STOPPED = { begin: (redis) => redis.pause(), end: (redis) => redis.resume() };
