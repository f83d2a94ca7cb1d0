import { DESTINATION_LIST_CAP, type Hint } from './hint.ts';

const BREAKER_FAILURES = 10;

/** Endpoints with their running requests, and the keys that stick to them. */
export class Fleet {
  readonly endpoints: readonly string[];
  readonly #running = new Map<string, number>();
  readonly #pins = new Map<string, string>();
  readonly #passedBy = new Map<string, number>();
  #turn = 0;

  constructor(endpoints: readonly string[]) {
    this.endpoints = endpoints;
  }

  /** The candidates, best first: the key's own, then by running requests. Counts nothing. */
  rank(hint: Hint, key: string | null): string[] {
    const { endpoints } = this;
    this.#turn += 1;
    const turned = endpoints.map((_, index) => endpoints[(index + this.#turn) % endpoints.length]!);
    const usable = turned.filter((it) => hint.allows(it));
    const closed = usable.filter((it) => (this.#passedBy.get(it) ?? 0) < BREAKER_FAILURES);
    const ranked = (closed.length > 0 ? closed : usable).sort((a, b) => this.#count(a) - this.#count(b));
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

  /** Another endpoint answered: as many in a row as many circuit breakers allow take it out. */
  passedBy(endpoint: string): void {
    this.#passedBy.set(endpoint, (this.#passedBy.get(endpoint) ?? 0) + 1);
  }

  answered(endpoint: string): void {
    this.#passedBy.delete(endpoint);
  }

  pin(key: string, endpoint: string): void {
    this.#pins.set(key, endpoint);
  }

  #count(endpoint: string): number {
    return this.#running.get(endpoint) ?? 0;
  }
}
