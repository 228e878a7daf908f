// Rows with an encrypted text, in base64, beside the key id of the secret that it is under. When the
// secret is replaced, a start encrypts them anew.
import type { Kysely } from 'kysely';
import { createSealer, type Sealer } from '../lib/sealed-bytes.ts';
import type { Secret, Secrets } from '../lib/secrets.ts';
import type { Database } from './database.ts';

type SealedTable = 'own_keys' | 'alert_endpoints' | 'settings_versions' | 'account_telemetry';

type SealedOptions<Place, Column extends string> = {
  readonly table: SealedTable;
  /** The column of the primary key. */
  readonly key: string;
  readonly column: Column;
  /** Separates the uses of one secret. */
  readonly purpose: string;
  /** What the text is bound to: it opens in no other row. */
  readonly contextOf: (place: Place) => string;
};

type Sealed<Column extends string> = Readonly<Record<Column | 'secret_id', string>>;
/** Any of the tables: the columns are named by the options. */
type AnyTable = Kysely<{ rows: Readonly<Record<string, string>> }>;

/**
 * Opens and seals throw for a text that was changed or moved, or is under a secret that is not
 * accepted.
 */
export class SealedRows<Place, Column extends string = 'sealed'> {
  readonly #options: SealedOptions<Place, Column>;

  constructor(options: SealedOptions<Place, Column>) {
    this.#options = options;
  }

  /** Returns the columns to write. */
  async seal(secrets: Secrets, place: Place, text: string): Promise<Sealed<Column>> {
    const { column, contextOf } = this.#options;
    const sealed = await this.#sealerOf(secrets).seal(Buffer.from(text), contextOf(place));
    return { [column]: sealed.toString('base64'), secret_id: secrets[0].id } as Sealed<Column>;
  }

  async open(secrets: Secrets, place: Place, sealed: string): Promise<string> {
    const bytes = Buffer.from(sealed, 'base64');
    return (await this.#sealerOf(secrets).open(bytes, this.#options.contextOf(place))).toString();
  }

  /** Encrypts texts anew that are under an earlier accepted secret. Others stay as they are. */
  async renew(database: Database, secrets: Secrets): Promise<void> {
    const { table, key, column } = this.#options;
    const write = database.write as unknown as AnyTable;
    for (const row of await this.#underOthers(database, secrets[0])) {
      const place = row as unknown as Place;
      const text = await this.open(secrets, place, row[column]!).catch(() => null);
      if (text === null) continue;
      await write
        .updateTable(table as 'rows')
        .set(await this.seal(secrets, place, text))
        .where(key, '=', row[key]!)
        .where(column as string, '=', row[column]!)
        .execute();
    }
  }

  /** Returns the keys of rows that are encrypted under another secret. */
  async underOthers(database: Database, current: Secret): Promise<readonly string[]> {
    const rows = await this.#underOthers(database, current);
    return rows.map((row) => row[this.#options.key]!);
  }

  #underOthers({ read }: Database, { id }: Secret) {
    const { table, column } = this.#options;
    return (read as unknown as AnyTable)
      .selectFrom(table as 'rows')
      .selectAll()
      .where('secret_id', '!=', id)
      .where(column, 'is not', null)
      .execute();
  }

  #sealerOf(secrets: Secrets): Sealer {
    return createSealer(secrets, this.#options.purpose);
  }
}
