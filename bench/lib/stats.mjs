/** Value at a share of a sorted list, 0 to 1, by the nearest rank; null of an empty one. */
export function quantile(sorted, share) {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

/** Middle value; of an even count the mean of the two. */
export function median(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** A figure with as many digits as it is worth: three. */
export function rounded(value) {
  return value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(3));
}
