import { gauges, hold, release, type Scenario, send, spread, together } from '../scenario.ts';

const MODES = ['random', 'min_load', 'min_group', 'delegate'];

/** Relations only: which worker comes first is by chance. */
function held(
  title: string,
  flags: readonly string[],
  name: (index: number) => { key?: string; rid?: string },
): Scenario {
  return {
    title,
    stand: { flags },
    choice: 'stays',
    steps: [
      // Of one group, so that the question is whether each goes elsewhere than the one before.
      ...[1, 2, 3].map((index) =>
        hold(`h${index}`, { ...name(index), group: 'spread', choice: flags.includes('random') ? 'free' : 'stays' }),
      ),
      ...(flags.includes('random') ? [] : [gauges]),
      ...release('h1', 'h2', 'h3'),
      ...[1, 2, 3, 1, 2, 3].map((index) => send({ ...name(index), group: `turn ${index}` })),
    ],
  };
}

export const modes: readonly Scenario[] = [
  ...MODES.map((mode) =>
    held(
      `sticky-sessions 3.2: override, ${mode}`,
      ['--policy', 'round_robin', '--routing-key-override', '--assignment-mode', mode],
      (index) => ({
        rid: `mode${index}_t1`,
      }),
    ),
  ),
  ...MODES.map((mode) =>
    held(`sticky-sessions 3.8: manual, ${mode}`, ['--policy', 'manual', '--assignment-mode', mode], (index) => ({
      key: `mode${index}`,
    })),
  ),
  {
    title: 'sticky-sessions 3.8: manual places new keys at random unless told otherwise',
    stand: { flags: ['--policy', 'manual'] },
    choice: 'free',
    steps: [spread(90, (index) => ({ key: `new-${index}` }))],
  },
  {
    title: 'sticky-sessions 3.9: first requests of one key at once share a worker under manual',
    stand: { flags: ['--policy', 'manual'] },
    choice: 'stays',
    steps: [together(...Array.from({ length: 5 }, () => ({ key: 'at-once' })))],
  },
  {
    title: 'sticky-sessions 3.9: first requests of one key at once under delegate',
    stand: { flags: ['--policy', 'round_robin', '--routing-key-override'] },
    choice: 'free',
    steps: [together(...Array.from({ length: 2 }, () => ({ rid: 'pair' })))],
  },
  {
    title: 'sticky-sessions 3.9: first requests of many keys at once',
    stand: { flags: ['--policy', 'round_robin', '--routing-key-override'] },
    steps: [together(...Array.from({ length: 12 }, (_, index) => ({ rid: `many${index}` })))],
  },
  {
    title: 'policies 1.2: requests at once',
    stand: { flags: ['--policy', 'round_robin'] },
    steps: [together(...Array.from({ length: 12 }, () => ({}))), send(), send()],
  },
];
