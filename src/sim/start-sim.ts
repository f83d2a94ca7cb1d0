import type { Certificate } from './certificate.ts';
import { DEFAULT_KNOBS, type Knobs } from './knobs.ts';
import { placesOf, type SimPlaces } from './places.ts';
import { SimWorker } from './worker.ts';

export interface SimOptions extends SimPlaces, Partial<Knobs> {
  /** What workers show to clients, which then speak TLS to them. */
  readonly certificate?: Certificate;
  /** Source of the rates' randomness, `Math.random` when unset. */
  readonly random?: () => number;
}

export interface Sim {
  readonly workers: readonly SimWorker[];
  /** Base URLs in order. */
  readonly urls: readonly string[];
  /** Changes the behaviour of all workers. */
  set(change: Partial<Knobs>): void;
  close(): Promise<void>;
}

/** Starts simulated workers named `sim-1`, `sim-2`, …; rejects, with none left running, when an address is taken. */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const { count, first, host, port, spread, certificate, random = Math.random, ...knobs } = options;
  const shared = { knobs: { ...DEFAULT_KNOBS, ...knobs }, random, certificate };
  const workers = placesOf({ count, first, host, port, spread }).map((place) => new SimWorker({ ...place, ...shared }));
  const close = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.kill()));
  };
  try {
    for (const worker of workers) await worker.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    workers,
    urls: workers.map((worker) => worker.url),
    set: (change) => {
      for (const worker of workers) worker.set(change);
    },
    close,
  };
}
