// Updates docs/openapi.json, the description that clients rely on. Run `npm run docs` after a
// change. Changes that break clients must be declared first.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config/load.ts';
import type { JsonObject } from '../lib/json.ts';
import { declaredChanges, findBreakingChanges } from './breaking-changes.ts';
import { publicDocument } from './reference.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const file = join(docs, 'openapi.json');

const document = publicDocument(loadConfig({ env: {}, cwd: import.meta.dirname }));
const before = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
const declared = declaredChanges(readFileSync(join(docs, 'breaking-changes.md'), 'utf8'));
const undeclared = findBreakingChanges(before, document).filter((change) => !declared.has(change));
if (undeclared.length > 0) {
  console.error(
    `These changes break clients. Undo them, or declare each in docs/breaking-changes.md:\n\n${undeclared.map((change) => `- ${change}`).join('\n')}`,
  );
  process.exit(1);
}
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
