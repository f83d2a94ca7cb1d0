/** True for the same workers in the same order. A list of candidates holds one or two ids. */
export function sameCandidates(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a[0] === b[0] && a[1] === b[1];
}
