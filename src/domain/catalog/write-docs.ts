// Updates the tables of docs/images.md. `npm run docs` runs it; run it after changing
// catalog/images.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { replaceImageTables } from './image-tables.ts';
import { loadImageModels } from './load-image-catalog.ts';

const guide = join(import.meta.dirname, '..', '..', '..', 'docs', 'images.md');
// An empty configuration gives the built-in models unchanged.
const models = loadImageModels(loadConfig({ env: {}, cwd: import.meta.dirname }));
writeFileSync(guide, replaceImageTables(readFileSync(guide, 'utf8'), models));
