import type { IncomingHttpHeaders } from 'node:http';

export type SideName = 'smg' | 'ours';

/** What a request tells the engine about itself. */
export interface Mark {
  readonly side: SideName;
  readonly step: string;
  /** Name of the hold that it waits for; empty when it waits for none. */
  readonly hold: string;
}

/** SMG passes a header of the client on if its name begins like this, and reads nothing from it. */
const HEADER = 'x-request-id-mark';

export function markHeader(mark: Mark): readonly [string, string] {
  return [HEADER, `${mark.side} ${mark.step} ${mark.hold}`];
}

export function readMark(headers: IncomingHttpHeaders): Mark {
  const [side, step = '', hold = ''] = String(headers[HEADER] ?? '').split(' ');
  return { side: side === 'smg' ? 'smg' : 'ours', step, hold };
}

/** Requests that wait at the engines, by the name of what they wait for. */
export class Holds {
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #open = new Set<string>();

  wait(name: string): Promise<void> {
    if (this.#open.has(name)) return Promise.resolve();
    return new Promise((resolve) => {
      const list = this.#waiting.get(name) ?? [];
      list.push(resolve);
      this.#waiting.set(name, list);
    });
  }

  /** Lets those who wait go on, and those who come later. */
  release(name: string): void {
    this.#open.add(name);
    for (const go of this.#waiting.get(name) ?? []) go();
    this.#waiting.delete(name);
  }

  releaseAll(): void {
    for (const name of [...this.#waiting.keys()]) this.release(name);
  }
}
