/** Digits of the name of a replica. */
const NAME_LENGTH = 8;

/** Name of the replica that made a pick; empty for an id that names none. */
export function replicaOf(pickId: string): string {
  return pickId.charAt(NAME_LENGTH) === '-' ? pickId.slice(0, NAME_LENGTH) : '';
}

/**
 * Makes pick ids: the name of this replica, then a number. The name lets an access-log entry find the replica that made
 * the pick (decisions 23); the number is short because the id travels with every request.
 */
export class PickIds {
  readonly #prefix: string;
  #next = 0;

  /** @param replica name of this replica, without `-` */
  constructor(replica: string) {
    this.#prefix = `${replica}-`;
  }

  make(): string {
    return this.#prefix + (this.#next++).toString(36);
  }
}
