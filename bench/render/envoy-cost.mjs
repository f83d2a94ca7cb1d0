/** What each part of the generated configuration costs inside Envoy. */
import { countedText } from './envoy-instructions.mjs';
import { partsOf } from './envoy-parts.mjs';
import { timedText } from './envoy-time.mjs';
import { figure } from './format.mjs';
import { from } from './sources.mjs';

export function envoyCostText(result) {
  const { counted, timed } = result;
  const measures = [];
  if (counted !== undefined) measures.push(countedText(result));
  if (timed !== undefined) measures.push(timedText(result, timed));
  return `## What each part of the Envoy configuration costs

${from(result)}

One Envoy for each variant of the generated configuration, all asking one service (that on a Unix socket a second one), key in
a header of a request of 1 KB. What a part does for a request in trouble, no request here needed.

${brokenText(result)}

${measures.join('\n\n')}
`;
}

/** Parts are not all there for speed: what a variant broke. */
function brokenText({ counted = [], timed = { rows: [] } }) {
  const rows = [
    ...counted.map(({ name, failed, split }) => ({ name, failed, split })),
    ...timed.rows.map(({ name, closed, paced }) => ({
      name,
      failed: closed.failed + paced.failed,
      split: closed.split + paced.split,
    })),
  ];
  const failed = rows.reduce((sum, row) => sum + row.failed, 0);
  const moved = new Set(
    partsOf(rows)
      .filter(({ split }) => split > 0)
      .map(({ name }) => `"${name}"`),
  );
  const kept =
    moved.size === 0
      ? 'With one part less, all requests stayed with the worker of their conversation.'
      : `Requests left the worker of their conversation with ${[...moved].join(', ')}: conversations do not hold without what these change.`;
  return `${figure(failed)} requests failed. ${kept}`;
}
