// Finds keys by their text, from memory. A poll of one counter tells when any key or account has changed, in this process or another;
// then what is remembered is out of date, so a revoked or changed key takes effect within about a second.
import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AccountsTable, ApiKeysTable } from '../db/schema.ts';
import { createAddressList, type AddressList } from '../lib/addresses.ts';
import type { Clock } from '../lib/clock.ts';
import type { ApiKey } from './api-key.ts';
import { keyDigest, keyModeOf } from './key-text.ts';

export type KeyStore = {
  /** A key from memory alone; null: it is not there, or out of date. */
  readonly recall: (text: string) => ApiKey | null;
  /** Whether a key that was found is still as it was found, as far as this process has heard. */
  readonly isCurrent: (key: ApiKey) => boolean;
  /** Whether the text was a key when it was last looked for: its owner need not queue with those who guess. */
  readonly isFamiliar: (text: string) => boolean;
  /** null: not a key, unknown, or revoked. */
  readonly find: (text: string) => Promise<ApiKey | null>;
  /** As it is now, read at each call. null: the account has no such key. */
  readonly findById: (accountId: string, keyId: string) => Promise<ApiKey | 'revoked' | null>;
  readonly close: () => void;
};

export type KeyStoreOptions = {
  readonly database: Database;
  readonly digestKey: Uint8Array;
  /** Called when a poll fails; the keys known by then go on working until the next one succeeds. */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const pollMs = 1_000;

/** More keys than most installations have; beyond it the memory starts over rather than grow. */
const keysMax = 50_000;

export function openKeyStore({ database, digestKey, onError, clock }: KeyStoreOptions): KeyStore {
  const byFingerprint = new Map<string, Remembered>();
  let revision = -1;
  /** Those that were read at this revision. */
  let current = new WeakSet<ApiKey>();
  const refresh = async () => {
    const revisionNow = await readRevision(database);
    if (revisionNow !== revision) current = new WeakSet();
    revision = revisionNow;
  };
  const recall = (fingerprint: string) => {
    const known = byFingerprint.get(fingerprint);
    return known?.revision === revision ? known.key : null;
  };
  const stopPolling = clock.every(pollMs, () => void refresh().catch(onError));
  return {
    recall: (text) => (keyModeOf(text) ? recall(fingerprintOf(text)) : null),
    isCurrent: (key) => current.has(key),
    isFamiliar: (text) => byFingerprint.has(fingerprintOf(text)),
    async find(text) {
      if (!keyModeOf(text)) return null;
      const fingerprint = fingerprintOf(text);
      const known = recall(fingerprint);
      if (known) return known;
      const before = revision;
      const key = await readKey(database, keyDigest(digestKey, text));
      if (!key) byFingerprint.delete(fingerprint);
      else if (before === revision) {
        if (byFingerprint.size >= keysMax) byFingerprint.clear();
        byFingerprint.set(fingerprint, { key, revision });
        current.add(key);
      }
      return key;
    },
    findById: (accountId, keyId) => readKeyById(database, accountId, keyId),
    close: stopPolling,
  };
}

type Remembered = { readonly key: ApiKey; readonly revision: number };

/** The memory is searched by a plain hash, which costs a fiftieth of the digest and leaves no key's text lying about. */
function fingerprintOf(text: string): string {
  return hash('sha256', text, 'base64');
}

async function readRevision(database: Database): Promise<number> {
  const row = await database.read.selectFrom('revisions').select('value').where('name', '=', 'keys').executeTakeFirst();
  return row?.value ?? 0;
}

const accountColumns = ['frozen', 'price_multiplier_ppm', 'retain_responses', 'cache_generation'] as const;
const accountLimitColumns = [
  'accounts.requests_per_minute as account_requests_per_minute',
  'accounts.tokens_per_minute as account_tokens_per_minute',
  'accounts.concurrent_requests as account_concurrent_requests',
  'accounts.allowed_addresses as account_allowed_addresses',
] as const;

async function readKey(database: Database, digest: string): Promise<ApiKey | null> {
  const row = await selectKeys(database)
    .where('api_keys.digest', '=', digest)
    .where('api_keys.revoked_at_ms', 'is', null)
    .executeTakeFirst();
  return row ? toApiKey(row, await readModelMultipliers(database, row.account_id)) : null;
}

async function readKeyById(database: Database, accountId: string, keyId: string): Promise<ApiKey | 'revoked' | null> {
  const row = await selectKeys(database)
    .where('api_keys.id', '=', keyId)
    .where('api_keys.account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return null;
  return row.revoked_at_ms === null ? toApiKey(row, await readModelMultipliers(database, accountId)) : 'revoked';
}

function selectKeys(database: Database) {
  return database.read
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select(accountColumns)
    .select(accountLimitColumns);
}

async function readModelMultipliers(database: Database, accountId: string): Promise<ApiKey['modelMultipliersPpm']> {
  const rows = await database.read.selectFrom('account_model_prices').selectAll().where('account_id', '=', accountId).execute();
  return rows.length === 0 ? null : new Map(rows.map((row) => [row.model_id, row.multiplier_ppm]));
}

type Account = Selectable<AccountsTable>;
type KeyRow = Selectable<ApiKeysTable> &
  Pick<Account, (typeof accountColumns)[number]> & {
    readonly account_requests_per_minute: Account['requests_per_minute'];
    readonly account_tokens_per_minute: Account['tokens_per_minute'];
    readonly account_concurrent_requests: Account['concurrent_requests'];
    readonly account_allowed_addresses: Account['allowed_addresses'];
  };

function toApiKey(row: KeyRow, modelMultipliersPpm: ApiKey['modelMultipliersPpm']): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    dailyCapMicros: row.daily_cap_micros,
    monthlyCapMicros: row.monthly_cap_micros,
    models: row.models === null ? null : new Set(JSON.parse(row.models) as string[]),
    limits: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrentRequests: row.concurrent_requests,
    },
    accountLimits: {
      requestsPerMinute: row.account_requests_per_minute,
      tokensPerMinute: row.account_tokens_per_minute,
      concurrentRequests: row.account_concurrent_requests,
    },
    allowedAddresses: [row.allowed_addresses, row.account_allowed_addresses].flatMap(toAddressList),
    expiresAtMs: row.expires_at_ms,
    isDisabled: row.disabled_at_ms !== null,
    accountFrozen: row.frozen === 1,
    retainResponses: row.retain_responses === 1,
    cacheGeneration: row.cache_generation,
    priceMultiplierPpm: row.price_multiplier_ppm,
    modelMultipliersPpm,
  };
}

function toAddressList(json: string | null): AddressList[] {
  return json === null ? [] : [createAddressList(JSON.parse(json) as string[])];
}
