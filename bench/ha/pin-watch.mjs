import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 4;

/** Looks at what one replica holds, all the time. Listing pins asks no store, so that looking changes nothing. */
export class PinWatch {
  #pins = new Map();
  #waiting = new Set();
  #problems = [];
  #stopped = false;
  #running;
  looks = 0;

  constructor(service) {
    this.#running = this.#run(service);
  }

  /** Pins that it holds. */
  get held() {
    return this.#pins.size;
  }

  /** Resolves with the time at which it holds this version of a key, or a later one. */
  reached(key, version) {
    return new Promise((resolve) => {
      this.#waiting.add({ key, version, resolve });
      this.#answer();
    });
  }

  /** Answers with what must not have been: pins that went back, and versions that named two workers. */
  async stop() {
    this.#stopped = true;
    await this.#running;
    return this.#problems;
  }

  async #run(service) {
    while (!this.#stopped) {
      const { pins } = (await service.admin('/pins?limit=1000')).json;
      this.looks += 1;
      for (const { key, candidates, version } of pins) {
        // Written here, and not yet taken by the store.
        if (version < 0) continue;
        const known = this.#pins.get(key);
        if (known?.version > version) this.#problems.push(`${key}: back from version ${known.version} to ${version}`);
        if (known?.version === version && known.worker !== candidates[0]) this.#problems.push(`${key}: another worker`);
        if (known?.version !== version) this.#pins.set(key, { version, worker: candidates[0], at: performance.now() });
      }
      this.#answer();
      await pause(EVERY_MS);
    }
  }

  #answer() {
    for (const wish of this.#waiting) {
      const held = this.#pins.get(wish.key);
      if (held === undefined || held.version < wish.version) continue;
      this.#waiting.delete(wish);
      wish.resolve(held.at);
    }
  }
}
