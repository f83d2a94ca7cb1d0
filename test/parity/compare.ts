import type { Difference } from './difference.ts';
import type { Outcome } from './outcome.ts';
import type { Choice, Request, StandOptions } from './scenario.ts';

/** One reading of both sides. */
export interface Both<T> {
  readonly smg: T;
  readonly ours: T;
}

/** Collects the points of one scenario in which the sides agree or differ. */
export class Comparison {
  readonly differences: Difference[] = [];
  readonly #scenario: string;
  readonly #stand: StandOptions;
  readonly #last: Both<Map<string, number | null>> = { smg: new Map(), ours: new Map() };
  #count = 0;

  constructor(scenario: string, stand: StandOptions) {
    this.#scenario = scenario;
    this.#stand = stand;
  }

  /** Points compared so far. */
  get count(): number {
    return this.#count;
  }

  point(step: number, request: Request | null, point: string, smg: string, ours: string): void {
    this.#count++;
    if (smg === ours) return;
    this.differences.push({ scenario: this.#scenario, stand: this.#stand, step, request, point, smg, ours });
  }

  outcome(step: number, request: Request, choice: Choice, { smg, ours }: Both<Outcome>): void {
    const same = (point: string, read: (outcome: Outcome) => string): void =>
      this.point(step, request, point, read(smg), read(ours));
    same('status', (outcome) => String(outcome.status));
    same('error', (outcome) => outcome.error ?? 'of an engine');
    same('code header', (outcome) => outcome.code);
    same('retry-after', (outcome) => outcome.retryAfter);
    same('stamp', (outcome) => outcome.stamp);
    same('request id', (outcome) => outcome.id);
    same('attempts', (outcome) => String(outcome.tried.length));
    if (choice === 'exact') same('tried', (outcome) => outcome.tried.join(' '));
    this.worker(step, request, choice, { smg: smg.worker, ours: ours.worker });
  }

  worker(step: number, request: Request, choice: Choice, at: Both<number | null>): void {
    const told = choice === 'exact' ? told1 : told2;
    this.point(step, request, 'worker', told(at.smg), told(at.ours));
    const group = request.group ?? request.key ?? (request.rid === undefined ? '' : String(request.rid));
    if (choice === 'stays') {
      const stays = (last: Map<string, number | null>, worker: number | null): string =>
        last.has(group) ? String(last.get(group) === worker) : 'first';
      this.point(step, request, 'stays', stays(this.#last.smg, at.smg), stays(this.#last.ours, at.ours));
    }
    this.#last.smg.set(group, at.smg);
    this.#last.ours.set(group, at.ours);
  }
}

const told1 = (worker: number | null): string => (worker === null ? 'none' : `engine ${worker}`);
const told2 = (worker: number | null): string => (worker === null ? 'none' : 'some engine');
