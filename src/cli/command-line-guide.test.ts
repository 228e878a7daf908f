// Keeps docs/command-line.md in step with the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listedCommands } from '../../tests/support/commands.ts';

const guide = join(import.meta.dirname, '..', '..', 'docs', 'command-line.md');
const rows = readFileSync(guide, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'));

/** The row of each command. `tollgate keys disable\|enable\|revoke ID` has three commands. */
const shown = new Map(
  rows.flatMap((row) => {
    const words = /^\| `tollgate((?: [a-z][a-z|\\-]*)+)/.exec(row)?.[1]?.trim().split(' ') ?? [];
    const last = words.pop();
    return (last?.split('\\|') ?? []).map((word): [string, string] => [
      [...words, word].join(' '),
      row,
    ]);
  }),
);

/** The long options that a text names. */
const optionsIn = (text: string) => new Set(text.match(/--[a-z-]+/g));
const sharedOptions = optionsIn(rows.filter((row) => !row.startsWith('| `tollgate')).join('\n'));

test('the guide shows every command, and no other', () => {
  assert.deepEqual(
    new Set(shown.keys()),
    new Set(listedCommands.map(({ name }) => name)),
    'docs/command-line.md',
  );
});

test('the guide names every option of each command, and no other', () => {
  for (const { name, options } of listedCommands) {
    const named = optionsIn(shown.get(name) ?? '');
    const missing = options.filter(
      (option) => option !== '--json' && !named.has(option) && !sharedOptions.has(option),
    );
    assert.deepEqual(missing, [], `docs/command-line.md lacks options of tollgate ${name}`);
    const unknown = [...named].filter((option) => !options.includes(option));
    assert.deepEqual(unknown, [], `docs/command-line.md invents options of tollgate ${name}`);
  }
  const known = new Set(listedCommands.flatMap(({ options }) => options));
  assert.deepEqual(
    [...sharedOptions].filter((option) => !known.has(option)),
    [],
  );
});
