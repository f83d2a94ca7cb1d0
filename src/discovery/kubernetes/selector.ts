import type { Pod } from './pod.ts';

/** Labels that a pod must have, all of them. */
export type Selector = ReadonlyMap<string, string>;

/** @param pairs `key=value` each; of two for one key the last holds, as in SMG */
export function readSelector(pairs: readonly string[]): Selector {
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** A selector without labels chooses nothing, so that a forgotten one does not take in every pod. */
export function matches({ labels }: Pod, selector: Selector): boolean {
  if (selector.size === 0) return false;
  for (const [key, value] of selector) if (labels[key] !== value) return false;
  return true;
}

/** What the API server is asked for to see all pods of these selectors with one watch: the labels that all require. */
export function commonLabels(selectors: readonly Selector[]): string {
  const [first, ...others] = selectors.filter(({ size }) => size > 0);
  if (first === undefined) return '';
  return [...first]
    .filter(([key, value]) => others.every((other) => other.get(key) === value))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
