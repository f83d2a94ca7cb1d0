import { type Act, actsOf } from './acts.ts';
import { Broken } from './checks.ts';
import { type Traits, traitsOf } from './traits.ts';
import { World } from './world.ts';

export interface Failure {
  readonly seed: number;
  readonly error: unknown;
  readonly traits: Traits;
  /** What is left of the schedule when all is left out that is not needed. */
  readonly acts: readonly Act[];
  readonly trace: readonly string[];
}

/** Plays the schedule of a seed, or the part of it with these indices. Null: all holds. */
export async function simulate(seed: number, only: ReadonlySet<number> | null = null): Promise<Failure | null> {
  const traits = traitsOf(seed);
  const acts = actsOf(seed, traits).filter(({ index }) => only === null || only.has(index));
  const error = await play(seed, traits, acts);
  return error === null ? null : { seed, error, traits, acts, trace: [] };
}

/** Leaves out as much as it can as long as the same check fails, and tells the rest. */
export async function shortened(failure: Failure): Promise<Failure> {
  const { seed, traits } = failure;
  let { acts, error } = failure;
  for (let size = Math.ceil(acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < acts.length; ) {
      const fewer = [...acts.slice(0, at), ...acts.slice(at + size)];
      const found = await play(seed, traits, fewer);
      if (found !== null && checkOf(found) === checkOf(error)) [acts, error] = [fewer, found];
      else at += size;
    }
  }
  const trace: string[] = [];
  await play(seed, traits, acts, trace);
  return { seed, error, traits, acts, trace };
}

export function report({ seed, error, traits, acts, trace }: Failure): string {
  return [
    `SEED=${seed} ACTS=${acts.map(({ index }) => index).join(',')}`,
    String(error instanceof Broken ? error.message : error instanceof Error ? error.stack : error),
    JSON.stringify(traits),
    ...trace,
  ].join('\n');
}

async function play(seed: number, traits: Traits, acts: readonly Act[], trace?: string[]): Promise<unknown> {
  const world = new World(seed, traits, trace !== undefined);
  try {
    await world.run(acts);
    return null;
  } catch (error) {
    return error;
  } finally {
    trace?.push(...(world.trace ?? []));
  }
}

function checkOf(error: unknown): string {
  return error instanceof Broken ? error.check : String(error);
}
