import { createHash } from 'node:crypto';
import { RedisPinBackend } from '../../dist/redis/redis-pin-backend.js';

export const PREFIX = 'smg-envoy';
export const WORKERS = ['http://10.244.12.34:8000', 'http://10.244.12.35:8000'];
export const TTL_MS = 3_600_000;

/** Fixed-size names, as those of pins are. */
export function nameOf(index) {
  return createHash('sha256').update(`00000000-0000-0000-0000-${index}`).digest('base64url').slice(0, 22);
}

/** Pins by a client. With `corked`, what is asked in one turn of the event loop is written to the socket at once. */
export async function pinsBy(client, { corked = false } = {}) {
  let open = true;
  const gather = () => {
    if (!corked || !open) return;
    open = false;
    const { stream } = client;
    stream.cork();
    setImmediate(() => {
      open = true;
      stream.uncork();
    });
  };
  const texts = [];
  const pins = new RedisPinBackend({
    prefix: PREFIX,
    run: (command, args) => client.call(command, ...args),
    script: (text) => {
      texts.push(text);
      const sha = createHash('sha1').update(text).digest('hex');
      return (keys, args) => {
        gather();
        return client.evalsha(sha, keys.length, ...keys, ...args);
      };
    },
  });
  for (const text of texts) await client.script('LOAD', text);
  return pins;
}
