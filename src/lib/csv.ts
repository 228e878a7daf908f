// Comma-separated values (RFC 4180), safe to open in a spreadsheet.
// https://www.rfc-editor.org/rfc/rfc4180 and https://owasp.org/www-community/attacks/CSV_Injection

/** null is an empty cell. */
export type CsvCell = string | number | null;

/**
 * Returns one record with its line end. Text that a spreadsheet would run as a formula gets a
 * leading apostrophe.
 */
export function csvRecord(cells: readonly CsvCell[]): string {
  return `${cells.map(writeCell).join(',')}\r\n`;
}

function writeCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  // The wide ones are read as the narrow ones where Chinese or Japanese is written.
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
