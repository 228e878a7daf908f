/** Returns the value of this field in each row. */
export function columnOf<Row, Name extends keyof Row>(
  rows: readonly Row[],
  name: Name,
): Row[Name][] {
  return rows.map((row) => row[name]);
}
