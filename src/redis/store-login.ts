import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../util/app-error.ts';
import type { StoreAddress } from '../util/pin-store-url.ts';

/** By what a connection proves who it is, and the other side. */
export interface StoreLogin {
  readonly username: string | null;
  readonly password: string | null;
  /** Certificates to trust, PEM; null: those of the system. */
  readonly ca: string | null;
}

export interface LoginPlaces {
  /** Beat those of the URL; null: as the URL says. */
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caPath: string | null;
}

/**
 * The login as files and URL have it now.
 *
 * @throws AppError `unreadable_file`
 */
export function readLogin(address: StoreAddress, { username, passwordFile, caPath }: LoginPlaces): StoreLogin {
  return {
    username: username ?? address.username,
    // Editors end a file with a newline, which is no part of the password.
    password:
      passwordFile === null
        ? address.password
        : fileText('--pin-store-password-file', passwordFile).replace(/[\r\n]+$/, ''),
    ca: caPath === null ? null : fileText('--pin-store-ca-path', caPath),
  };
}

/** Reads the files of the login again for each connection, so that a password or certificate changed there is found. */
export class LoginReader {
  readonly #address: StoreAddress;
  readonly #places: LoginPlaces;
  #last: StoreLogin;

  /** @throws AppError `unreadable_file` */
  constructor(address: StoreAddress, places: LoginPlaces) {
    this.#address = address;
    this.#places = places;
    this.#last = readLogin(address, places);
  }

  /** The login now; as long as a file cannot be read, what it said last. */
  read(): StoreLogin {
    try {
      this.#last = readLogin(this.#address, this.#places);
    } catch {
      // A mounted secret is away for a moment while it is replaced.
    }
    return this.#last;
  }
}

function fileText(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('unreadable_file', `${flag} ${path}: cannot be read: ${messageOf(error)}`);
  }
}
