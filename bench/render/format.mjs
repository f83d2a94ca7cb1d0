/** A figure with three digits at most, `–` for none. */
export function figure(value, unit = '') {
  if (value === null || value === undefined) return '–';
  const text = Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
  return `${text.replace(/\B(?=(\d{3})+$)/g, text.includes('.') ? '' : ',')}${unit === '' ? '' : ` ${unit}`}`;
}

/** A difference, with its sign. */
export function signed(value, unit = '') {
  if (value === null || value === undefined) return '–';
  return `${value >= 0 ? '+' : '−'}${figure(Math.abs(value), unit)}`;
}

/** A table in Markdown; the first column is text, the others are figures. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

/** A table without the columns that no row has a figure for. */
export function filled(head, rows) {
  const kept = head.map((_, column) => column).filter((column) => rows.some((row) => row[column] !== '–'));
  return table(
    kept.map((column) => head[column]),
    rows.map((row) => kept.map((column) => row[column])),
  );
}

/** Bytes as people say them. */
export function size(bytes) {
  if (bytes >= 1_000_000) return `${figure(bytes / 1_048_576)} MB`;
  return bytes >= 1000 ? `${figure(bytes / 1024)} KB` : `${bytes} B`;
}
