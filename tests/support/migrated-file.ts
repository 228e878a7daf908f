// New SQLite databases for tests: to migrate one takes fifty times as long as to copy one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/db/database.ts';

let migrated: Promise<Buffer> | null = null;

/** Writes a database with all tables, without rows. */
export async function writeMigratedFile(path: string): Promise<void> {
  migrated ??= migrate();
  writeFileSync(path, await migrated, { mode: 0o600 });
}

async function migrate(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  try {
    const path = join(folder, 'test.db');
    const database = openDatabase(`sqlite:${path}`);
    await database.migrate();
    await database.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
