import { AppError } from '../util/app-error.ts';
import type { RedisLink, RedisLinkOptions } from './redis-link.ts';

/**
 * Begins to connect to the store of `--pin-store`; one that is away keeps nobody waiting, the link is `down` until it comes.
 *
 * @throws AppError `invalid_configuration` for a URL that is none, `unreadable_file` for a password or certificates that
 * cannot be read
 */
export function openRedis(url: string, options: RedisLinkOptions): RedisLink {
  throw new AppError('internal', `not connected to ${url.length} ${options.self}`);
}
