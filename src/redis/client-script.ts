import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** Runs one script at a client, which need not know it. Rejects with what the client library says. */
export type ClientScript = (
  client: Redis | Cluster,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** The text goes only to a server that does not know the script by its digest. */
export function clientScript(lua: string): ClientScript {
  const sha = createHash('sha1').update(lua).digest('hex');
  return (client, keys, args) => {
    const rest = [keys.length, ...keys, ...args];
    return client.call('evalsha', [sha, ...rest]).catch((error) => {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return client.call('eval', [lua, ...rest]);
    });
  };
}
