// The settings that operators save in the database, with their versions. They are encrypted, because
// they hold credentials of providers. The newest version is in force.
import type { SavedSettings } from '../../config/saved-settings.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { SealedRows } from '../../db/sealed-rows.ts';
import type { Secrets } from '../../lib/secrets.ts';

export const sealedSettings = new SealedRows<{ readonly version: number }>({
  table: 'settings_versions',
  key: 'version',
  column: 'sealed',
  purpose: 'saved settings',
  contextOf: ({ version }) => String(version),
});

export type SettingsVersion = {
  /** 0: nothing was ever saved. */
  readonly version: number;
  readonly settings: SavedSettings;
};

type Row = Readonly<Tables['settings_versions']>;

export type SettingsVersionListing = Pick<Row, 'version' | 'created_at_ms' | 'author' | 'note'>;

/** The versions that are kept, to go back to. */
const versionsMax = 100;

/** The newest version's number, and the newest that asked for the file to be read again. */
export async function readSettingsNumbers(
  db: Db,
): Promise<{ readonly newest: number; readonly reread: number }> {
  const row = await db
    .selectFrom('settings_versions')
    .select((eb) => [
      eb.fn.max('version').as('newest'),
      eb.fn.max(eb.case().when('rereads_file', '=', 1).then(eb.ref('version')).end()).as('reread'),
    ])
    .executeTakeFirst();
  return { newest: row?.newest ?? 0, reread: row?.reread ?? 0 };
}

/** `version`: default the newest. Returns null for one that is not kept. Throws without its secret. */
export async function readSettings(
  db: Db,
  secrets: Secrets,
  version?: number,
): Promise<SettingsVersion | null> {
  let query = db.selectFrom('settings_versions').select(['version', 'sealed']);
  if (version !== undefined) query = query.where('version', '=', version);
  const row = await query.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if (!row) return version === undefined || version === 0 ? { version: 0, settings: {} } : null;
  return { version: row.version, settings: await open(secrets, row) };
}

export function listSettings(db: Db): Promise<SettingsVersionListing[]> {
  return db
    .selectFrom('settings_versions')
    .select(['version', 'created_at_ms', 'author', 'note'])
    .orderBy('version', 'desc')
    .execute();
}

/** What to write, encrypted before the transaction begins. */
export type SealedVersion = Omit<Row, 'created_at_ms'>;

type NewVersion = SettingsVersion &
  Pick<Row, 'author' | 'note'> & { readonly rereadsFile?: boolean };

export async function sealVersion(
  secrets: Secrets,
  { version, settings, author, note, rereadsFile = false }: NewVersion,
): Promise<SealedVersion> {
  return {
    version,
    author,
    note: note.slice(0, 500),
    rereads_file: rereadsFile ? 1 : 0,
    ...(await sealedSettings.seal(secrets, { version }, JSON.stringify(settings))),
  };
}

/** Returns false when another change has taken the version's number. */
export async function insertVersion(
  write: Db,
  row: SealedVersion,
  nowMs: number,
): Promise<boolean> {
  const [inserted] = await write
    .insertInto('settings_versions')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('version')
    .execute();
  if (!inserted) return false;
  await write
    .deleteFrom('settings_versions')
    .where('version', '<=', row.version - versionsMax)
    .execute();
  return true;
}

/** Removes the versions that are encrypted under another secret than the one with this key id. */
export async function forgetOtherSettings(write: Db, secretId: string): Promise<void> {
  await write.deleteFrom('settings_versions').where('secret_id', '!=', secretId).execute();
}

async function open(
  secrets: Secrets,
  row: { readonly version: number; readonly sealed: string },
): Promise<SavedSettings> {
  return JSON.parse(await sealedSettings.open(secrets, row, row.sealed)) as SavedSettings;
}
