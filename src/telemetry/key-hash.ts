import { hash } from 'node:crypto';

/**
 * Stands for a sticky key in logs: 12 hex digits, the same on every replica, so that lines about one conversation can be
 * found without the key, which may be a user's name or an API key, being written anywhere.
 */
export function keyHash(key: string | Uint8Array): string {
  return hash('sha256', key, 'hex').slice(0, 12);
}
