import { openRedis } from '../../src/redis/open-redis.ts';
import type { RedisLink } from '../../src/redis/redis-link.ts';
import { until } from './until.ts';

export const PREFIX = `smg-envoy-test-${process.pid}`;

/** A link, and all that it told. */
export interface TestLink extends RedisLink {
  /** `down>up`, `trouble:reason`, `connected`, `subscribed:true`, `gap`, in the order they came. */
  readonly log: readonly string[];
  readonly messages: readonly string[];
  readonly failures: readonly string[];
  /** Milliseconds of `--pin-claim-timeout-ms`. */
  bound: number;
}

interface Places {
  readonly username?: string;
  readonly passwordFile?: string;
  readonly caPath?: string | null;
}

/** Opens links, and closes those that are open. */
export function openLinks(): { open(url: string, places?: Places): TestLink; closeAll(): Promise<void> } {
  const links = new Set<RedisLink>();
  return {
    open: (url, { username = null, passwordFile = null, caPath = null } = {}) => {
      const told = { log: [] as string[], messages: [] as string[], failures: [] as string[], bound: 50 };
      const link = openRedis(url, {
        ...{ self: 'a1b2c3d4', prefix: PREFIX, username, passwordFile, caPath },
        claimTimeoutMs: () => told.bound,
        observer: {
          stateChanged: (state, previous) => told.log.push(`${previous}>${state}`),
          troubled: (reason, message) => {
            told.log.push(`trouble:${reason}`);
            told.messages.push(message);
          },
          connected: () => told.log.push('connected'),
          subscribed: () => told.log.push('subscribed:true'),
          unsubscribed: () => told.log.push('subscribed:false'),
          probed: () => {},
          failed: (reason) => told.failures.push(reason),
          gap: () => told.log.push('gap'),
        },
      });
      links.add(link);
      for (const name of ['log', 'messages', 'failures'] as const) {
        Object.defineProperty(link, name, { value: told[name] });
      }
      Object.defineProperty(link, 'bound', {
        set: (ms: number) => {
          told.bound = ms;
        },
      });
      return link as TestLink;
    },
    closeAll: async () => {
      const open = [...links];
      links.clear();
      await Promise.all(open.map((link) => link.close()));
    },
  };
}

/** Resolves when the link has come to this state. */
export async function untilState(link: TestLink, wanted: RedisLink['state']): Promise<void> {
  await until(() => link.state === wanted, `${wanted}, not ${link.state}; ${link.log.join(' ')}`);
}
