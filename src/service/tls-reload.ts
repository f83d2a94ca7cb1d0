import { FileWatch } from '../config/file-watch.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TlsOptions } from '../transport/transport.ts';
import { messageOf } from '../util/app-error.ts';
import { readTlsFiles, type TlsFiles, type TlsPlaces, tlsOptionsOf } from './tls-files.ts';

export interface TlsReloadParts {
  readonly places: TlsPlaces;
  /** What the port was opened with. */
  readonly files: TlsFiles;
  readonly renew: (tls: TlsOptions) => void;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
}

/** A pair is mostly written in one go; a change is to count within a second. */
const SETTLE_MS = 100;
/** Some file systems tell of no change, and certificates end without one. */
const LOOK_MS = 60_000;
const LONGEST_NOTICE_MS = 14 * 86_400_000;

/** Follows the TLS files of the gRPC port. Files that do not fit together are told of and not taken. */
export class TlsReload {
  readonly #parts: TlsReloadParts;
  readonly #watches: readonly FileWatch[];
  readonly #looks: NodeJS.Timeout;
  #files: TlsFiles;
  #problem: string | null = null;
  /** What was last said of the end of the certificate. */
  #said: 'nothing' | 'soon' | 'over' = 'nothing';

  constructor(parts: TlsReloadParts) {
    this.#parts = parts;
    this.#files = parts.files;
    const { cert, key, clientCa } = parts.places;
    const changed = (): void => this.look();
    const lost = (problem: string): void =>
      parts.log.warn('TLS files are read once a minute only', { reason: problem });
    const paths = [cert, key, ...(clientCa === null ? [] : [clientCa])];
    this.#watches = paths.map((path) => new FileWatch({ path, changed, lost, settleMs: SETTLE_MS }));
    this.#looks = setInterval(changed, LOOK_MS).unref();
    this.#tellEnd();
  }

  /** Takes over what the files hold now, if it is new and good. */
  look(): void {
    const { places, renew, metrics, log, wallClock } = this.#parts;
    try {
      const files = readTlsFiles(places, wallClock());
      this.#problem = null;
      if (!isSame(files, this.#files)) {
        renew(tlsOptionsOf(files));
        this.#files = files;
        this.#said = 'nothing';
        metrics.tlsReloads.cell('ok').value += 1;
        log.info('TLS files taken over', { path: places.cert, reason: `valid to ${dateOf(files.validTo)}` });
      }
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem && !this.#isOnlyOver()) {
        metrics.tlsReloads.cell('failed').value += 1;
        log.warn('changed TLS files are not used, those before are', { reason: problem });
      }
      this.#problem = problem;
    }
    this.#tellEnd();
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
    clearInterval(this.#looks);
  }

  /** The files are as they were, but their time is up: {@link #tellEnd} says so. */
  #isOnlyOver(): boolean {
    if (this.#parts.wallClock() < this.#files.validTo) return false;
    try {
      return isSame(readTlsFiles(this.#parts.places, this.#files.validTo - 1), this.#files);
    } catch {
      return false;
    }
  }

  #tellEnd(): void {
    const { places, metrics, log, wallClock } = this.#parts;
    const { validFrom, validTo } = this.#files;
    metrics.tlsExpiry.cell().value = validTo / 1000;
    const left = validTo - wallClock();
    const state = left <= 0 ? 'over' : left < noticeMs(validTo - validFrom) ? 'soon' : 'nothing';
    if (state === this.#said) return;
    this.#said = state;
    const fields = { path: places.cert, reason: `valid to ${dateOf(validTo)}` };
    if (state === 'over') log.error('the certificate of the gRPC port has expired: Envoy refuses it; renew it', fields);
    else if (state === 'soon') log.warn('the certificate of the gRPC port ends soon: renew it', fields);
  }
}

/** A fifth of the lifetime, two weeks at most: what renews itself has done so by then. */
function noticeMs(lifetimeMs: number): number {
  return Math.min(lifetimeMs / 5, LONGEST_NOTICE_MS);
}

function isSame(one: TlsFiles, other: TlsFiles): boolean {
  return one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString();
}
