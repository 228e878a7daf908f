// The documents that are made from the code are up to date.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writtenDocs } from '../scripts/docs/written-docs.ts';

for (const [name, write] of Object.entries(writtenDocs)) {
  test(`docs/${name} is as the code makes it`, () => {
    const text = readFileSync(join(import.meta.dirname, '..', 'docs', name), 'utf8');
    const read = name.endsWith('.json')
      ? (written: string): unknown => JSON.parse(written)
      : String;
    assert.deepEqual(read(text), read(write(text)), 'run npm run docs');
  });
}
