/** What cache_aware and the pins remember: what it costs by size, and how long the process stops for it. */
import { figure, size, table } from './format.mjs';

export function promptsTable({ prompts }) {
  const workers = [...new Set(prompts.map((row) => row.workers))];
  const rows = prompts.filter((row) => row.workers === workers[0]);
  return table(
    ['cache_aware, prompt', ...workers.flatMap((count) => [`${figure(count)} workers`, 'p99'])],
    rows.map(({ kind, size: bytes }) => [
      `${kind}, ${bytes}`,
      ...workers.flatMap((count) => {
        const row = prompts.find((each) => each.kind === kind && each.size === bytes && each.workers === count);
        return [figure(row.micros, 'µs'), figure(row.p99, 'µs')];
      }),
    ]),
  );
}

export function treesTable({ trees }) {
  const sizes = Object.keys(trees[0]).filter((name) => name.endsWith(' micros'));
  return table(
    ['tree, nodes', 'a node', 'beside its text', ...sizes.map((name) => name.replace(' micros', '')), 'longest'],
    trees.map((row) => [
      `${row.tree}, ${figure(row.nodes)}`,
      size(row.bytesPerNode),
      size(row.besideItsText),
      ...sizes.map((name) => figure(row[name], 'µs')),
      figure(row.longestFillMs, 'ms'),
    ]),
  );
}

export function indexTable({ index }) {
  return table(
    ['heads in the hash index', 'memory of one', 'look-up', 'record of a known one', 'of a new one, full', 'longest'],
    index.map((row) => [
      figure(row.heads),
      figure(row.bytesPerHead, 'bytes'),
      figure(row.holdersMicros, 'µs'),
      figure(row.recordMicros, 'µs'),
      figure(row.recordAtCapMicros, 'µs'),
      figure(row.longestRecordMs, 'ms'),
    ]),
  );
}

export function promptTextTable({ 'prompt-text': rows }) {
  const sizes = [...new Set(rows.map((row) => row.size))].filter((bytes) => bytes > 0);
  const near = (bytes) => SIZES.find((each) => bytes > each * 0.8 && bytes <= each * 1.1);
  const names = [...new Set(rows.filter((row) => near(row.size) !== undefined).map((row) => row.name))];
  const columns = SIZES.filter((each) => sizes.some((bytes) => near(bytes) === each));
  return table(
    ['prompt out of a body of', ...columns.map(size)],
    names.map((name) => [
      name,
      ...columns.map((each) => figure(rows.find((row) => row.name === name && near(row.size) === each)?.micros, 'µs')),
    ]),
  );
}

const SIZES = [300, 32 << 10, 220 << 10, 1 << 20];

export function pausesTable({ pauses }) {
  return table(
    ['', 'of', 'longest turn', 'turns', 'all of it', 'longest collection'],
    pauses.map((row) => [
      row.what,
      `${figure(row.count)} ${row.unit}`,
      figure(row.longestMs, 'ms'),
      figure(row.turns),
      figure(row.tookMs, 'ms'),
      figure(row.longestCollectionMs, 'ms'),
    ]),
  );
}
