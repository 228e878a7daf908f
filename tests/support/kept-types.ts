// What is read from the types of the official SDKs. Reading them takes seconds, so what was read is kept until a version changes.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const modules = join(import.meta.dirname, '..', '..', 'node_modules');

const folder = join(modules, '.cache', 'tollgate');

/** Returns what `read` returned when it was first called for these versions; it must be JSON. */
export function keepTypes<Types>(name: string, read: () => Types): Types {
  const versions = ['openai', '@anthropic-ai/sdk', 'ts-json-schema-generator'].map(versionOf).join('-');
  const file = join(folder, `${name.replaceAll('/', '_')}-${versions}.json`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    // Test files run side by side: whoever reads must find the whole file.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(read()));
    renameSync(draft, file);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Types;
}

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string }).version;
}
