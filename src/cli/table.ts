/**
 * Rows under a header, in columns as wide as their widest cell. Control characters of cells are shown, not sent. Cells
 * longer than `longest` are cut, but for those of the first column, which name the row.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  longest = Number.POSITIVE_INFINITY,
): string {
  const cells = [header, ...rows].map((row) =>
    row.map((cell, column) => (column === 0 ? printable(cell) : cut(printable(cell), longest))),
  );
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Not between the halves of a character.
  return `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function printable(cell: string): string {
  return cell.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}
