import type { Eligibility } from '../routing/eligibility.ts';
import type { Worker } from '../workers/worker.ts';
import { addEndpointNames, ipOfAddress } from './endpoint-names.ts';

/** The workers that a data plane allows for one request (endpoint-picker-protocol 2). */
export class SubsetHint implements Eligibility {
  readonly #names: ReadonlySet<string>;

  /**
   * @param value of the hint as it was sent: a list of texts or one text, each with comma-joined endpoints. Anything else
   *   allows nobody: a hint that is there is never as none.
   */
  constructor(value: unknown) {
    const names: string[] = [];
    if (typeof value === 'string') addEndpointNames(value, names);
    else if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'string') addEndpointNames(item, names);
    }
    this.#names = new Set(names);
  }

  allows({ address }: Worker): boolean {
    return this.#names.has(address) || this.#names.has(ipOfAddress(address));
  }
}
