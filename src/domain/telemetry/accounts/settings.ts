// An account's settings for the export of its own traces. management/changes/account-telemetry.ts
// changes them with their audit row. Running gateways learn of a change with the account's keys.
import type { Db } from '../../../db/schema.ts';
import { transact } from '../../../db/transact.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import { type Headers, openHeaders, sealHeaders } from './headers.ts';

/** The settings that may be shown. The values of headers stay secret. */
export type ExportSettings = {
  /** null: nothing is exported. */
  readonly endpoint: string | null;
  readonly header_names: readonly string[];
  /** From 0 to 1. */
  readonly sampling_ratio: number;
  /** Prompts and answers are exported too. */
  readonly include_content: boolean;
};

/** A field that is left out stays as it is. */
export type ExportChange = {
  /** null switches the export off. Another address begins without headers. */
  readonly endpoint?: string | null | undefined;
  /** Replaces all headers. */
  readonly headers?: Headers | undefined;
  readonly samplingRatio?: number | undefined;
  /** Default: as before, but off with another address or other headers. */
  readonly includeContent?: boolean | undefined;
};

const ppm = 1_000_000;
const noExport: ExportSettings = {
  endpoint: null,
  header_names: [],
  sampling_ratio: 1,
  include_content: false,
};

export async function readExportSettings(db: Db, accountId: string): Promise<ExportSettings> {
  const row = await db
    .selectFrom('account_telemetry')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return noExport;
  return {
    endpoint: row.endpoint,
    header_names: JSON.parse(row.header_names) as string[],
    sampling_ratio: row.sampling_ppm / ppm,
    include_content: row.include_content === 1,
  };
}

/** Changes the settings of an account, which must exist. Returns those before and after. */
export async function changeExport(
  write: Db,
  secrets: Secrets,
  { accountId, change }: { readonly accountId: string; readonly change: ExportChange },
): Promise<{ readonly before: ExportSettings; readonly after: ExportSettings }> {
  return transact(write, async (transaction) => {
    await lockRow(transaction, accountId);
    const before = await readExportSettings(transaction, accountId);
    const { endpoint = before.endpoint, samplingRatio, includeContent } = change;
    const isMoved = endpoint !== before.endpoint;
    // Whoever names another receiver must know its keys, and an owner must want the prompts there.
    const headers = change.headers ?? (isMoved ? {} : undefined);
    const content = includeContent ?? (headers === undefined && before.include_content);
    await transaction
      .updateTable('account_telemetry')
      .set((eb) => ({
        endpoint,
        sampling_ppm: Math.round((samplingRatio ?? before.sampling_ratio) * ppm),
        include_content: content ? (1 as const) : (0 as const),
        version: eb('version', '+', 1),
      }))
      .where('account_id', '=', accountId)
      .execute();
    if (headers)
      await transaction
        .updateTable('account_telemetry')
        .set(await sealHeaders(secrets, { accountId, headers }))
        .where('account_id', '=', accountId)
        .execute();
    if (isMoved) await forgetResults(transaction, accountId);
    return { before, after: await readExportSettings(transaction, accountId) };
  });
}

/** The row stays when the export is switched off, so that versions go on growing. */
async function lockRow(transaction: Db, accountId: string): Promise<void> {
  await transaction
    .insertInto('account_telemetry')
    .values({
      account_id: accountId,
      header_names: '[]',
      sampling_ppm: ppm,
      include_content: 0,
      version: 0,
    })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ account_id: accountId }))
    .execute();
}

async function forgetResults(transaction: Db, accountId: string): Promise<void> {
  await transaction
    .deleteFrom('account_telemetry_results')
    .where('account_id', '=', accountId)
    .execute();
}

/** Where an account's spans go now. */
export type ExportTarget = {
  readonly endpoint: string;
  readonly headers: Headers;
  readonly version: number;
};

/** Returns null when the export is off. Throws when the headers cannot be decrypted. */
export async function readTarget(
  read: Db,
  secrets: Secrets,
  accountId: string,
): Promise<ExportTarget | null> {
  const row = await read
    .selectFrom('account_telemetry')
    .select(['endpoint', 'sealed_headers', 'version'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row || row.endpoint === null) return null;
  const headers = await openHeaders(secrets, accountId, row.sealed_headers);
  return { endpoint: row.endpoint, headers, version: row.version };
}
