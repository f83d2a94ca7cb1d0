import { DEFAULT_KNOBS, type Knobs } from './knobs.ts';
import { SimWorker } from './worker.ts';

export interface SimOptions extends Partial<Knobs> {
  /** Number of workers, 3 when unset. */
  readonly count?: number;
  /** Number in the name of the first worker, 1 when unset. */
  readonly first?: number;
  /** Address of the first worker, `127.0.0.1` when unset. */
  readonly host?: string;
  /** Port of the first worker; 0 or unset gives each any free one. */
  readonly port?: number;
  /** `ports`: one address, ports counted up (default); `addresses`: one port, the last number of the IPv4 address counted up. */
  readonly spread?: 'ports' | 'addresses';
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
  const {
    count = 3,
    first = 1,
    host = '127.0.0.1',
    port = 0,
    spread = 'ports',
    random = Math.random,
    ...knobs
  } = options;
  const workers = Array.from({ length: count }, (_, index) => {
    const at =
      spread === 'addresses' ? { host: addressAfter(host, index), port } : { host, port: port && port + index };
    return new SimWorker({ name: `sim-${index + first}`, ...at, knobs: { ...DEFAULT_KNOBS, ...knobs }, random });
  });
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

/** The IPv4 address `steps` after `first`; any other form of address stays as it is. */
export function addressAfter(first: string, steps: number): string {
  const parts = first.split('.');
  if (parts.length !== 4) return first;
  let number = parts.reduce((sum, part) => sum * 256 + Number(part), 0) + steps;
  const out: number[] = [];
  for (let i = 0; i < 4; i++) {
    out.unshift(number % 256);
    number = Math.floor(number / 256);
  }
  return out.join('.');
}
