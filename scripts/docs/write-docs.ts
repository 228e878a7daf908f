// `npm run docs`: writes the documents that are made from the code. Changes of docs/openapi.json that
// break clients must be declared first.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/lib/json.ts';
import { declaredChanges, findBreakingChanges } from './breaking-changes.ts';
import { writtenDocs } from './written-docs.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const read = (name: string) => readFileSync(join(docs, name), 'utf8');

for (const [name, write] of Object.entries(writtenDocs)) {
  const before = read(name);
  const text = write(before);
  if (name === 'openapi.json') refuseUndeclared(before, text);
  writeFileSync(join(docs, name), text);
}

function refuseUndeclared(before: string, after: string): void {
  const changes = findBreakingChanges(
    JSON.parse(before) as JsonObject,
    JSON.parse(after) as JsonObject,
  );
  const declared = declaredChanges(read('breaking-changes.md'));
  const undeclared = changes.filter((change) => !declared.has(change));
  if (undeclared.length === 0) return;
  console.error(
    `These changes break clients. Undo them, or declare each in docs/breaking-changes.md:\n\n${undeclared.map((change) => `- ${change}`).join('\n')}`,
  );
  process.exit(1);
}
