// Brings the tables of docs/images.md up to date: run it with the pinned Node after a change of catalog/images.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { replaceImageTables } from './image-tables.ts';
import { loadImageModels } from './load-image-catalog.ts';

const guide = join(import.meta.dirname, '..', '..', 'docs', 'images.md');
// Nobody's configuration: the built-in models as they are.
const models = loadImageModels(loadConfig({ env: {}, cwd: import.meta.dirname }));
writeFileSync(guide, replaceImageTables(readFileSync(guide, 'utf8'), models));
