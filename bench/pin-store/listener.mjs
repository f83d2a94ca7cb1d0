/** A replica that only listens, by the way of its second argument; tells when it is ready, and then what it knew at what time. */
import { Redis } from 'ioredis';
import { decodeChange, decodePin } from '../../dist/pins/shared/pin-record.js';
import { changesChannel } from '../../dist/redis/redis-pin-backend.js';
import { PREFIX } from './client.mjs';

const [url, how] = process.argv.slice(2);
const known = [];
const learnt = (version) => known.push([version, process.hrtime.bigint()]);

const subscriber = new Redis(url, { protocol: 2 });
if (how === 'pub/sub') {
  subscriber.on('message', (_, message) => learnt(decodeChange(message).version));
  await subscriber.subscribe(changesChannel(PREFIX));
} else {
  const id = await subscriber.client('ID');
  const asker = new Redis(url, { protocol: 2, enableAutoPipelining: true });
  // Says only which keys changed, so each is read. A replica would do so for keys it holds: all but claimed ones.
  subscriber.on('message', async (_, keys) => {
    for (const key of keys.split(',')) {
      asker.get(key).then((value) => learnt(decodePin(value).version));
    }
  });
  await subscriber.subscribe('__redis__:invalidate');
  await asker.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', 'PREFIX', `${PREFIX}:p:`);
}
process.on('message', () => process.send(known));
process.send('ready');
