import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { StoreClient } from '../../src/redis/store-client.ts';

/** A {@link StoreClient} with nothing around the client library, for tests of what is built on it. Hears nothing. */
export function plainStoreClient(client: Redis | Cluster, prefix: string): StoreClient {
  return {
    prefix,
    run: (command, args) => client.call(command, ...args),
    script: (lua) => {
      const sha = createHash('sha1').update(lua).digest('hex');
      return async (keys, args) => {
        try {
          return await client.evalsha(sha, keys.length, ...keys, ...args);
        } catch (error) {
          if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
          return client.eval(lua, keys.length, ...keys, ...args);
        }
      };
    },
    publish: () => false,
    subscribe: () => () => {},
  };
}
