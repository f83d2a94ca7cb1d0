import type { Settings } from '../config/load-settings.ts';
import { type LoginPlaces, readLogin } from '../redis/store-login.ts';
import { parsePinStoreUrl } from '../util/pin-store-url.ts';
import { readPinKeySecret } from './pin-key-secret.ts';

export function loginPlacesOf({ pinStoreUsername, pinStorePasswordFile, pinStoreCaPath }: Settings): LoginPlaces {
  return { username: pinStoreUsername, passwordFile: pinStorePasswordFile, caPath: pinStoreCaPath };
}

/**
 * Reads the files for a shared store as the start of the service does.
 *
 * @throws AppError `unreadable_file`, or `invalid_configuration` for a file that holds no secret
 */
export function checkStoreFiles(settings: Settings): void {
  const url = parsePinStoreUrl(settings.pinStore);
  if (!url.ok) return;
  readLogin(url.address, loginPlacesOf(settings));
  readPinKeySecret(settings.pinKeyHmacFile);
}
