import { AppError } from '../util/app-error.ts';
import { parsePinStoreUrl } from '../util/pin-store-url.ts';
import { ClientPlaces } from './client-places.ts';
import { RedisLink, type RedisLinkOptions } from './redis-link.ts';
import { type LoginPlaces, LoginReader } from './store-login.ts';

/**
 * Begins to connect to the store of `--pin-store`; one that is away keeps nobody waiting, the link is `down` until it comes.
 *
 * @throws AppError `invalid_configuration` for a URL that is none, `unreadable_file` for a password or certificates that
 * cannot be read
 */
export function openRedis(url: string, options: RedisLinkOptions & LoginPlaces): RedisLink {
  const result = parsePinStoreUrl(url);
  if (!result.ok) throw new AppError('invalid_configuration', `--pin-store: ${result.problem}`);
  const logins = new LoginReader(result.address, options);
  return new RedisLink(new ClientPlaces(result.address, logins, `smg-envoy-${options.self}`), options);
}
