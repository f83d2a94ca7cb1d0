import { DESTINATION_LIST_CAP, type Hint } from './hint.ts';

/** Endpoints with their running requests, and the keys that stick to them. */
export class Fleet {
  readonly endpoints: readonly string[];
  readonly #running = new Map<string, number>();
  readonly #pins = new Map<string, string>();
  #turn = 0;

  constructor(endpoints: readonly string[]) {
    this.endpoints = endpoints;
  }

  /** The candidates, best first: the key's own, then by running requests. Counts nothing. */
  rank(hint: Hint, key: string | null): string[] {
    const { endpoints } = this;
    this.#turn += 1;
    const turned = endpoints.map((_, index) => endpoints[(index + this.#turn) % endpoints.length]!);
    const ranked = turned.filter((it) => hint.allows(it)).sort((a, b) => this.#count(a) - this.#count(b));
    const pin = key === null ? undefined : this.#pins.get(key);
    const list = pin !== undefined && ranked.includes(pin) ? [pin, ...ranked.filter((it) => it !== pin)] : ranked;
    return list.slice(0, DESTINATION_LIST_CAP);
  }

  begin(endpoint: string): void {
    this.#running.set(endpoint, this.#count(endpoint) + 1);
  }

  end(endpoint: string): void {
    this.#running.set(endpoint, this.#count(endpoint) - 1);
  }

  pin(key: string, endpoint: string): void {
    this.#pins.set(key, endpoint);
  }

  #count(endpoint: string): number {
    return this.#running.get(endpoint) ?? 0;
  }
}
