/** The rows of bench/envoy-cost.mjs by what they are. */

export const WHOLE = 'generated';
export const AGAIN = 'generated again (noise)';
export const PLAIN = 'plain';
const LADDER = 'ladder: ';

/** Rows of one changed part each, and that of no change. */
export function partsOf(rows) {
  return rows.filter(({ name }) => name !== WHOLE && name !== PLAIN && !name.startsWith(LADDER));
}

/** From all of it down to the filter alone in the order of the file, then plain Envoy. */
export function ladderOf(rows) {
  const named = (wanted) => rows.filter(({ name }) => name === wanted);
  return [...named(WHOLE), ...rows.filter(({ name }) => name.startsWith(LADDER)), ...named(PLAIN)];
}

export function titleOf(name) {
  if (name === PLAIN) return 'plain Envoy';
  return name === WHOLE ? 'as generated' : name.replace(LADDER, '');
}
