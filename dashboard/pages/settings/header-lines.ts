// Headers as they are typed: one in each line.

/** Returns the headers of lines like `authorization: Bearer …`; null when a line has no colon. */
export function headersOf(lines: string): Record<string, string> | null {
  const entries = lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) =>
      /^([^:]+):(.*)$/
        .exec(line)
        ?.slice(1)
        .map((part) => part.trim()),
    );
  if (!entries.every((entry) => entry !== undefined)) return null;
  return Object.fromEntries(entries as [string, string][]);
}
