// `tollgate backup`: a process of its own, so that the gateway beside it goes on serving.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { backUpSqlite } from '../db/sqlite-backup.ts';
import { CommandFailed, printResult, type JsonOption } from './output.ts';

export async function backupCommand(file: string, options: JsonOption): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  if (isPostgresUrl(config.database.url)) {
    throw new CommandFailed(
      'these books are on PostgreSQL, which has its own tool for a copy while it runs: pg_dump --format=custom --file=<file> "$DATABASE_URL". See docs/operations.md.',
    );
  }
  const target = resolve(file);
  const source = sqlitePathOf(config.database.url);
  if (!existsSync(source)) throw new CommandFailed(`there is no database at ${source} yet`);
  if (existsSync(target)) throw new CommandFailed(`${target} exists already; name a new file`);
  const bytes = await backUpSqlite(source, target);
  const secret = secretFileOf(process.env, config.dataDir) ?? 'TOLLGATE_SECRET';
  const ids = loadSecrets(process.env, config.dataDir, { isShared: false }).map(({ id }) => id);
  printResult(
    options,
    { file: target, bytes, secret_ids: ids },
    `${target} (${bytes} bytes). Keep ${secret} for it (key id ${ids.join(', ')}): without it no key in it can be recognised.`,
  );
}
