import { POLICY_NAMES, type PolicyName } from '../../../src/routing/policy-name.ts';
import { type Choice, type Request, type Scenario, type Step, send, spread } from '../scenario.ts';

/** What a request brings along for its placement. */
const SOURCES = ['header', 'rid', 'hint', 'none'] as const;
type Source = (typeof SOURCES)[number];

const CONVERSATIONS = ['a', 'b', 'c', 'd'];
const TURNS = [1, 2, 3];

/** Every policy, with and without the override, with each source. */
export const matrix: readonly Scenario[] = POLICY_NAMES.flatMap((policy) =>
  [false, true].flatMap((override) => SOURCES.map((source) => cell(policy, override, source))),
);

function cell(policy: PolicyName, override: boolean, source: Source): Scenario {
  const choice = choiceOf(policy, override, source);
  const turns = TURNS.flatMap((turn) =>
    CONVERSATIONS.map((conversation) => send(take(source, `${source}-${conversation}`, turn))),
  );
  return {
    title: `sticky-sessions 5: ${policy}, override ${override ? 'on' : 'off'}, ${source}`,
    stand: { flags: ['--policy', policy, ...(override ? ['--routing-key-override'] : [])] },
    choice,
    steps: [...turns, ...chance(policy, choice)],
  };
}

/** One turn of a conversation; its prompt goes on where the last one ended. */
function take(source: Source, conversation: string, turn: number): Request {
  const text = `${`${conversation} says one thing after the other. `.repeat(20)}${'And more. '.repeat(turn)}`;
  const request = { text, group: conversation };
  switch (source) {
    case 'header':
      return { ...request, key: conversation };
    case 'rid':
      return { ...request, rid: `${conversation}_t${turn}` };
    case 'hint': {
      const first = 1000 * (conversation.charCodeAt(conversation.length - 1) - 96);
      return { ...request, hint: Array.from({ length: 64 + 16 * turn }, (_, id) => first + id).join(',') };
    }
    case 'none':
      return request;
  }
}

/** How far the choice is determined. */
function choiceOf(policy: PolicyName, override: boolean, source: Source): Choice {
  const keyed = source === 'header' || (source === 'rid' && override);
  switch (policy) {
    case 'round_robin':
    case 'passthrough':
    case 'prefix_hash':
      return 'exact';
    case 'consistent_hashing':
      return keyed ? 'exact' : 'free';
    case 'manual':
      return keyed ? 'stays' : 'free';
    case 'cache_aware':
      return 'stays';
    case 'random':
    case 'power_of_two':
    case 'least_load':
    case 'bucket':
      return keyed && override ? 'stays' : 'free';
  }
}

/** Where chance decides, it must do so with the same odds. */
function chance(policy: PolicyName, choice: Choice): readonly Step[] {
  return choice === 'free' && policy !== 'bucket' ? [spread(90, (index) => ({ text: `unlike ${index}` }))] : [];
}
