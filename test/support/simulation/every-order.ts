import { type SmallProgram, SmallWorld, type Step } from './small-world.ts';

export interface Orders {
  readonly orders: number;
  /** Null when all holds in every order. */
  readonly failure: string | null;
}

/**
 * Plays a small program in every order in which its steps can come, but once for orders that differ only in steps of
 * different places (sleep sets).
 */
export async function everyOrder(program: SmallProgram, judge: (world: SmallWorld) => void): Promise<Orders> {
  let orders = 0;
  const path: string[] = [];

  const explore = async (world: SmallWorld, asleep: readonly Step[]): Promise<void> => {
    const { steps } = world;
    if (steps.length === 0) {
      orders++;
      await world.end();
      return judge(world);
    }
    const done: Step[] = [...asleep];
    let here: SmallWorld | null = world;
    for (const step of steps) {
      if (asleep.some(({ id }) => id === step.id)) continue;
      const now: SmallWorld = here ?? (await replay(program, path));
      here = null;
      const taken = now.steps.find(({ id }) => id === step.id)!;
      path.push(step.id);
      await now.take(taken);
      await explore(
        now,
        done.filter((other) => independent(other, step)),
      );
      path.pop();
      done.push(step);
    }
  };

  try {
    await explore(await replay(program, []), []);
    return { orders, failure: null };
  } catch (error) {
    return { orders, failure: `${JSON.stringify(program)}\n${path.join('\n')}\n${error}` };
  }
}

async function replay(program: SmallProgram, path: readonly string[]): Promise<SmallWorld> {
  const world = new SmallWorld(program);
  await world.begin(program.known);
  for (const id of path) await world.take(world.steps.find((step) => step.id === id)!);
  return world;
}

function independent(a: Step, b: Step): boolean {
  return a.place !== b.place && a.place !== '*' && b.place !== '*';
}
