/**
 * Upper bounds of chi-square that chance passes once in a million times, by degrees of freedom from 1. With equal odds on
 * both sides a comparison of two samples stays below.
 */
const BOUNDS = [23.93, 27.63, 30.66, 33.38, 35.89, 38.26, 40.52];

/** Whether two samples may come from one distribution; each is a count by category. */
export function alike(left: readonly number[], right: readonly number[]): boolean {
  const used = left.map((_, index) => index).filter((index) => (left[index] ?? 0) + (right[index] ?? 0) > 0);
  const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
  if (total(left) !== total(right)) return false;
  if (used.length < 2) return true;
  let chi = 0;
  for (const index of used) {
    const a = left[index] ?? 0;
    const b = right[index] ?? 0;
    chi += (a - b) ** 2 / (a + b);
  }
  return chi <= (BOUNDS[used.length - 2] ?? 0);
}
