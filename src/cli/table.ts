/** Rows under a header, in columns as wide as their widest cell. Control characters of cells are shown, not sent. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map(printable));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function printable(cell: string): string {
  return cell.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}
