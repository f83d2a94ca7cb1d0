/** Both commits asked by the client of the working tree, in turns. */
import { measured } from '../transport/scenarios.mjs';
import { startStands } from '../transport/stands.mjs';
import { VARIANTS } from '../transport/variants.mjs';

/** Yields `{ name, unit, lessIsBetter, base, ours }` of each figure of each round. */
export async function* transportRounds({ base, settings, only }) {
  const { rounds, seconds, connections, streams, rate } = settings;
  const wanted = VARIANTS.filter(({ name }) =>
    (only ?? ['header', 'header-entries', 'rid-1k', 'rid-220k']).includes(name),
  );
  const orders = [
    { kind: 'closed', seconds, connections, streams },
    { kind: 'paced', seconds, connections, rate },
  ];
  const { stands, client, stop } = await startStands([{ name: 'base', checkout: base.folder }, { name: 'ours' }]);
  try {
    for (const stand of stands) await measured({ ...orders[0], seconds: 2 }, VARIANTS[0], stand, client);
    for (let round = 0; round < rounds; round++) {
      for (const variant of wanted) {
        for (const order of orders) {
          if (order.kind === 'paced' && (variant.bodyBytes ?? 0) > 10_240) continue;
          const rows = {};
          for (const stand of round % 2 === 0 ? stands : stands.toReversed()) {
            rows[stand.name] = await measured(order, variant, stand, client);
          }
          yield* figuresOf(`${variant.name}, ${order.kind}`, rows);
        }
      }
    }
  } finally {
    await stop();
  }
}

const FIGURES = [
  ['perSecond', 'a second', false],
  ['cpuMicros', 'µs', true],
  ['p50Ms', 'ms', true],
];

function* figuresOf(name, { base, ours }) {
  for (const [figure, unit, lessIsBetter] of FIGURES) {
    if (base[figure] == null || ours[figure] == null) continue;
    yield { name: `${name}: ${figure}`, unit, lessIsBetter, base: base[figure], ours: ours[figure] };
  }
  for (const [whose, { failed }] of Object.entries({ base, ours })) {
    if (failed > 0)
      throw new Error(`${name}: ${failed} calls failed at ${whose === 'ours' ? 'the working tree' : 'the base'}`);
  }
}
