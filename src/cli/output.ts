// Command output: JSON for programs, aligned columns for people.

import { formatUsd, type Micros } from '../lib/money.ts';

/** An expected failure. Its message is shown to the user; the exit code is 1. */
export class CommandFailed extends Error {}

/** Throws CommandFailed if a command that changes something is told nothing to change. */
export function requireChange(options: object): void {
  if (Object.keys(options).every((name) => name === 'json'))
    throw new CommandFailed('say what to change: --help lists the options');
}

export type JsonOption = { readonly json?: true };

/** The result of a command: the value that `--json` prints, and the text that is printed without it. */
export type Output = readonly [value: unknown, forPeople: string];

export function printOutput({ json }: JsonOption, [value, forPeople]: Output): void {
  console.log(json ? JSON.stringify(value) : withoutControls(forPeople));
}

/**
 * Returns the output of a failed command with `--json`:
 * `{"error":{"message":"there is no account acc_1"}}`.
 */
export function failureJson(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return JSON.stringify({ error: { message: text.replace(/^error: /, '') } });
}

/** −2 000 000 → "-$2.00". */
export function dollars(value: Micros): string {
  return formatUsd(value).replace(/^-?/, '$&$$');
}

/** Users choose names: an escape in one could change what the operator's terminal shows. */
function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** Formats a table of these rows. `columns`: by their headings, what is in a cell. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): string {
  const cells = Object.values(columns);
  return formatTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}

/** Formats a table. Each column is as wide as its widest cell. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.replaceAll('\n', '\ufffd').padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [line(headings), ...rows.map(line)].join('\n');
}
