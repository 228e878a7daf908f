// The documents that are made from the code are up to date.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminScopes } from '../src/terms/admin-scope.ts';
import { keyScopes } from '../src/terms/key-scope.ts';
import { writtenDocs } from '../scripts/docs/written-docs.ts';

const readDocs = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', 'docs', name), 'utf8');

for (const [name, write] of Object.entries(writtenDocs)) {
  test(`docs/${name} is as the code makes it`, () => {
    const text = readDocs(name);
    const read = name.endsWith('.json')
      ? (written: string): unknown => JSON.parse(written)
      : String;
    assert.deepEqual(read(text), read(write(text)), 'run npm run docs');
  });
}

test('the tables of scopes have every scope of keys and of admin keys', () => {
  for (const [name, scopes] of [
    ['limits.md', keyScopes],
    ['admin-api.md', adminScopes],
  ] as const) {
    const rows = readDocs(name).match(/^\|.*\|$/gm)!;
    for (const scope of scopes)
      assert.ok(
        rows.some((row) => row.split('|')[1]!.includes(`\`${scope}\``)),
        `${name} lacks ${scope}`,
      );
  }
});
