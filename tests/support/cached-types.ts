// Caches what tests derive from the official SDKs' types. Deriving takes seconds, so results are
// kept until a version changes.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const modules = join(import.meta.dirname, '..', '..', 'node_modules');

const folder = join(modules, '.cache', 'tollgate');

/**
 * Returns the result of `read` for the installed versions, from the cache if possible. It must be
 * JSON.
 */
export function cacheTypes<Types>(name: string, read: () => Types): Types {
  const versions = ['openai', '@anthropic-ai/sdk', '@google/genai', 'ts-json-schema-generator']
    .map(versionOf)
    .join('-');
  const file = join(folder, `${name.replaceAll('/', '_')}-${versions}.json`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    // Test files run in parallel, so a reader must never find a partial file.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(read()));
    renameSync(draft, file);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Types;
}

function versionOf(name: string): string {
  return (
    JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string }
  ).version;
}
