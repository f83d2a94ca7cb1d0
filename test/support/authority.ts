import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface IssuedFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority of openssl's in a folder of its own. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'smg-authority-'));
  readonly path = join(this.folder, 'ca.pem');
  #issued = 0;

  constructor() {
    const out = ['-keyout', join(this.folder, 'ca.key'), '-out', this.path];
    openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test authority', '-days', '2', ...out);
  }

  /** Where the pair of this name is, once it was issued. */
  files(name: string): IssuedFiles {
    return { cert: join(this.folder, `${name}.crt`), key: join(this.folder, `${name}.key`) };
  }

  /** Issues a pair for 127.0.0.1 under this name, in the place of the one before by two renames. */
  issue(name: string): IssuedFiles {
    this.#issued += 1;
    const at = join(this.folder, `new-${this.#issued}`);
    const { cert, key } = this.files(name);
    openssl(
      'req',
      ...NEW_KEY,
      '-subj',
      `/CN=${name}`,
      '-addext',
      ALT_NAME,
      '-keyout',
      `${at}.key`,
      '-out',
      `${at}.csr`,
    );
    const signer = ['-CA', this.path, '-CAkey', join(this.folder, 'ca.key'), '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      `${at}.csr`,
      ...signer,
      '-copy_extensions',
      'copy',
      '-days',
      '2',
      '-out',
      `${at}.crt`,
    );
    renameSync(`${at}.crt`, cert);
    renameSync(`${at}.key`, key);
    return { cert, key };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const ALT_NAME = 'subjectAltName=IP:127.0.0.1';

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
