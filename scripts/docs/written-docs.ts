// The documents in docs/ that are made from the code.
import { loadConfig } from '../../src/config/load.ts';
import { loadImageModels } from '../../src/domain/catalog/load-image-catalog.ts';
import { publicDocument } from '../../src/reference/reference.ts';
import { configJsonSchema } from './config-json-schema.ts';
import { fieldTable } from './field-table.ts';
import { imageTables } from './image-tables.ts';

/** By the document's name: returns its text, made from the text that it has. */
export const writtenDocs: Readonly<Record<string, (text: string) => string>> = {
  'config.schema.json': () => textOf(configJsonSchema()),
  'configuration.md': (text) => withTable(text, 'fields', fieldTable()),
  'images.md': (text) => withTable(text, 'images', imageTables(loadImageModels(builtIn()))),
  'openapi.json': () => textOf(publicDocument(builtIn())),
};

/** An empty configuration leaves the built-in models and limits unchanged. */
function builtIn() {
  return loadConfig({ env: {}, cwd: import.meta.dirname });
}

function textOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Replaces the table between two marks, and keeps everything else. */
function withTable(text: string, name: string, table: string): string {
  const begin = `<!-- ${name}: begin (made by npm run docs) -->`;
  const [start, stop] = [text.indexOf(begin), text.indexOf(`<!-- ${name}: end -->`)];
  if (start === -1 || stop < start)
    throw new Error(`A document has lost the marks of its table: ${begin}, and its end`);
  return `${text.slice(0, start)}${begin}\n${table}${text.slice(stop)}`;
}
