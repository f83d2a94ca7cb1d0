import { headersRequest } from '../transport/messages.mjs';

/** Spreads new keys evenly among known ones; prime to 100. */
const STEP = 37;

/**
 * Whose turn is next, at one stand, on which connection, and whether it came to the worker of the turn before.
 *
 * Known keys take turns in a fixed order, and each moves on by one connection from turn to turn, so that it meets every
 * replica. A new key has a second turn at another replica as soon as it has its first answer.
 */
export class Turns {
  #keys;
  #connections;
  #firsts;
  #workers;
  #run;
  #number = 0;
  #known = 0;
  #made = 0;
  #second = [];

  /**
   * @param firsts message of each known key
   * @param run a text that no other run has, for new keys
   */
  constructor(firsts, connections, run) {
    this.#firsts = firsts;
    this.#keys = firsts.length;
    this.#connections = connections;
    this.#workers = new Array(firsts.length).fill('');
    this.#run = run;
  }

  /** @param newPercent share of turns that are first or second ones of new keys */
  next(newPercent) {
    const special = (this.#number * STEP) % 100 < newPercent;
    this.#number += 1;
    if (!special) return this.#knownTurn();
    return this.#second.shift() ?? this.#newTurn();
  }

  /** Takes in the worker of a turn; false when an earlier turn of its key was sent elsewhere. */
  answered(turn, worker) {
    if (turn.kind === 'new') {
      const connection = (turn.connection + 1) % this.#connections;
      this.#second.push({ kind: 'second', key: -1, connection, message: turn.message, worker });
      return true;
    }
    if (turn.kind === 'second') return turn.worker === worker;
    const before = this.#workers[turn.key];
    this.#workers[turn.key] = worker;
    return before === '' || before === worker;
  }

  #knownTurn() {
    const number = this.#known++;
    const key = number % this.#keys;
    const connection = (key + Math.floor(number / this.#keys)) % this.#connections;
    return { kind: 'known', key, connection, message: this.#firsts[key], worker: '' };
  }

  #newTurn() {
    const made = this.#made++;
    const message = headersRequest({ 'x-smg-routing-key': `new-${this.#run}-${made}` });
    return { kind: 'new', key: -1, connection: made % this.#connections, message, worker: '' };
  }
}
