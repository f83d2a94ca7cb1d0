import type { ConfigNode } from '../config-node.ts';
import type { Trap } from '../trap.ts';
import { textOf, valuesIn } from '../tree.ts';
import { askingChains } from './askers.ts';

const CONFIG = 'local_reply_config';
/** Statuses of the service's own answers (envoy 10.7). */
const OWN_STATUSES = [400, 404, 408, 413, 429, 500, 502, 503, 504];

/** What Envoy writes over (envoy 10.7). */
export const LOCAL_REPLY_TRAPS: readonly Trap[] = [
  {
    id: 'T75',
    level: 'error',
    title: 'local_reply_config rewrites what the service refuses',
    consequence: 'Clients do not get its status, code and Retry-After, but what stands here.',
    into: CONFIG,
    cure: '# body_format belongs into mappers, as body_format_override; filter by response_flag_filter or a CEL expression',
    // envoy 10.7
    remark: 'A status that the service never answers with is left alone.',
    *find(subject) {
      for (const { manager } of askingChains(subject)) {
        const config = manager.get(CONFIG);
        const format = config.get('body_format');
        if (format.exists) yield { at: format, found: 'a body_format for all replies' };
        for (const mapper of config.get('mappers').items()) {
          const filter = mapper.get('filter');
          if (takesOwnStatus(filter)) yield { at: filter, found: 'a filter by status alone' };
        }
      }
    },
  },
  {
    id: 'T76',
    level: 'warning',
    title: "Envoy's own texts go to clients",
    consequence: 'They can hold addresses and messages of the service.',
    into: CONFIG,
    cure: '# a constant text',
    // envoy 10.7
    *find(subject) {
      for (const { manager } of askingChains(subject)) {
        const config = manager.get(CONFIG);
        const formats = [
          config.get('body_format'),
          ...config
            .get('mappers')
            .items()
            .map((mapper) => mapper.get('body_format_override')),
        ];
        for (const format of formats) {
          const text = internalsIn(format);
          if (text !== undefined) yield { at: format, found: text };
        }
      }
    },
  },
];

/** Whether a filter goes by nothing but a status that the service answers with. */
function takesOwnStatus(filter: ConfigNode): boolean {
  const status = filter.get('status_code_filter', 'comparison');
  if (status.exists) return OWN_STATUSES.some((one) => compares(status, one));
  const both = filter.get('and_filter', 'filters').items();
  if (both.length > 0) return both.every(takesOwnStatus);
  return filter.get('or_filter', 'filters').items().some(takesOwnStatus);
}

function compares(comparison: ConfigNode, status: number): boolean {
  const bound = comparison.get('value', 'default_value').number(0) ?? Number.NaN;
  const op = comparison.get('op').choice(['EQ', 'GE', 'LE', 'NE'], 'EQ');
  if (op === 'EQ') return status === bound;
  return op === 'GE' ? status >= bound : op === 'LE' ? status <= bound : status !== bound;
}

function internalsIn(format: ConfigNode): string | undefined {
  if (format.tree === null) return undefined;
  for (const tree of valuesIn([format.tree])) {
    const [found] = /%(RESPONSE_CODE_DETAILS|LOCAL_REPLY_BODY)(\([^)]*\))?%/.exec(textOf(tree) ?? '') ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
}
