// Finds keys by their text, from memory. A poll of one counter tells when any key or account has changed, in this process or another;
// then the memory is dropped, so a revoked or changed key takes effect within about a second.
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AccountsTable, ApiKeysTable } from '../db/schema.ts';
import type { ApiKey } from './api-key.ts';
import { keyDigest, keyModeOf } from './key-text.ts';

export type KeyStore = {
  /** null: not a key, unknown, or revoked. */
  readonly find: (text: string) => Promise<ApiKey | null>;
  readonly close: () => void;
};

export type KeyStoreOptions = {
  readonly database: Database;
  readonly digestKey: Uint8Array;
  /** Called when a poll fails; the keys known by then go on working until the next one succeeds. */
  readonly onError: (error: unknown) => void;
  readonly pollMs?: number;
};

/** More keys than most installations have; beyond it the memory starts over rather than grow. */
const keysMax = 50_000;

export function openKeyStore({ database, digestKey, onError, pollMs = 1_000 }: KeyStoreOptions): KeyStore {
  const byFingerprint = new Map<string, ApiKey>();
  let revision = -1;
  const refresh = async () => {
    const current = await readRevision(database);
    if (current !== revision) byFingerprint.clear();
    revision = current;
  };
  const timer = setInterval(() => void refresh().catch(onError), pollMs);
  timer.unref();
  return {
    async find(text) {
      if (!keyModeOf(text)) return null;
      // The memory is searched by a plain hash, which costs a fiftieth of the digest and leaves no key's text lying about.
      const fingerprint = hash('sha256', text, 'base64');
      const known = byFingerprint.get(fingerprint);
      if (known) return known;
      const before = revision;
      const key = await readKey(database, keyDigest(digestKey, text));
      if (key && before === revision) {
        if (byFingerprint.size >= keysMax) byFingerprint.clear();
        byFingerprint.set(fingerprint, key);
      }
      return key;
    },
    close: () => clearInterval(timer),
  };
}

async function readRevision(database: Database): Promise<number> {
  const row = await database.read.selectFrom('revisions').select('value').where('name', '=', 'keys').executeTakeFirst();
  return row?.value ?? 0;
}

const accountColumns = ['frozen', 'price_multiplier_ppm', 'retain_responses', 'cache_generation'] as const;

async function readKey(database: Database, digest: string): Promise<ApiKey | null> {
  const row = await database.read
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select(accountColumns)
    .where('api_keys.digest', '=', digest)
    .where('api_keys.revoked_at_ms', 'is', null)
    .executeTakeFirst();
  return row ? toApiKey(row, await readModelMultipliers(database, row.account_id)) : null;
}

async function readModelMultipliers(database: Database, accountId: string): Promise<ApiKey['modelMultipliersPpm']> {
  const rows = await database.read.selectFrom('account_model_prices').selectAll().where('account_id', '=', accountId).execute();
  return rows.length === 0 ? null : new Map(rows.map((row) => [row.model_id, row.multiplier_ppm]));
}

type KeyRow = Selectable<ApiKeysTable> & Pick<Selectable<AccountsTable>, (typeof accountColumns)[number]>;

function toApiKey(row: KeyRow, modelMultipliersPpm: ApiKey['modelMultipliersPpm']): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    dailyCapMicros: row.daily_cap_micros,
    monthlyCapMicros: row.monthly_cap_micros,
    models: row.models === null ? null : new Set(JSON.parse(row.models) as string[]),
    requestsPerMinute: row.requests_per_minute,
    accountFrozen: row.frozen === 1,
    retainResponses: row.retain_responses === 1,
    cacheGeneration: row.cache_generation,
    priceMultiplierPpm: row.price_multiplier_ppm,
    modelMultipliersPpm,
  };
}
