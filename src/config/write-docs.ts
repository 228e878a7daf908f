// Updates the documents that are generated from the schema. Run `npm run docs` after changing the
// schema.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFieldTable } from './field-table.ts';
import { configJsonSchema } from './json-schema.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

writeFileSync(join(docs, 'config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
const guide = join(docs, 'configuration.md');
writeFileSync(guide, replaceFieldTable(readFileSync(guide, 'utf8')));
