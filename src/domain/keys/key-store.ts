// Looks up keys by their text, cached in memory. A poll of one revision counter detects changes of
// any key or account, in this process or another, and invalidates the cache. A revoked or changed
// key takes effect within about a second.
import { hash } from 'node:crypto';
import type { InferResult } from 'kysely';
import type { KeyScope } from '../../terms/key-scope.ts';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { createAddressList, type AddressList } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { ApiKey } from './api-key.ts';
import {
  digestKeyFrom,
  foreignTextsOf,
  keyDigest,
  keyModeOf,
  mayBeForeign,
  plainDigestOf,
} from './key-text.ts';
import { movedKeysRevision } from './moved-keys.ts';
import { readOwnKeys } from './own-keys.ts';

export type KeyStore = {
  /** Looks in memory only; null when the key is not there or outdated. */
  readonly recall: (text: string) => ApiKey | null;
  /**
   * True when the last lookup of this text found a key: its owner is not throttled with those who
   * guess keys.
   */
  readonly wasValid: (text: string) => boolean;
  /** False for a text that is refused without a look-up in the database. */
  readonly mayFind: (text: string) => boolean;
  /** Returns null for text that is not a key, and for unknown or revoked keys. */
  readonly find: (text: string) => Promise<ApiKey | null>;
  /** Reads the key's current state on every call. null when the account has no such key. */
  readonly findById: (accountId: string, keyId: string) => Promise<ApiKey | 'revoked' | null>;
  /** Returns also a key that was revoked: for charges of what ran before. */
  readonly findEver: (accountId: string, keyId: string) => Promise<ApiKey | null>;
  readonly close: () => Promise<void>;
};

type KeyStoreOptions = {
  readonly database: Database;
  readonly secrets: Secrets;
  /**
   * Called when a poll fails; cached keys keep working until the next successful one. Also called
   * when a key under an earlier secret cannot be rehashed; that is retried when the key is next
   * read. And when an account's own key of a provider cannot be decrypted.
   */
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
};

const pollMs = 1_000;

/** More keys than most installations have. At this size the cache is cleared. */
const keysMax = 50_000;

export function openKeyStore(options: KeyStoreOptions): KeyStore {
  const { database, secrets, onError, clock } = options;
  const [currentSecret] = secrets;
  const digestKeys = secrets.map(digestKeyFrom);
  const byFingerprint = new Map<string, Remembered>();
  const redigesting = new Set<Promise<void>>();
  let revision = -1;
  /** Until the first poll, keys of other gateways may be there. */
  let hasMovedKeys = true;
  const refresh = async () => {
    const revisions = await readRevisions(database.read);
    hasMovedKeys = revisions.has(movedKeysRevision);
    revision = revisions.get('keys') ?? 0;
  };
  const mayFind = (text: string) =>
    keyModeOf(text) !== null || (hasMovedKeys && mayBeForeign(text));
  const recall = (fingerprint: string) => {
    const known = byFingerprint.get(fingerprint);
    return known?.revision === revision ? known.key : null;
  };
  const stopPolling = clock.every(pollMs, () => void refresh().catch(onError));
  return {
    recall: (text) => recall(fingerprintOf(text)),
    wasValid: (text) => byFingerprint.has(fingerprintOf(text)),
    mayFind,
    async find(text) {
      if (!mayFind(text)) return null;
      const fingerprint = fingerprintOf(text);
      const known = recall(fingerprint);
      if (known) return known;
      const before = revision;
      const isOurs = keyModeOf(text) !== null;
      const texts = isOurs ? [text] : foreignTextsOf(text);
      const digests = texts.flatMap((each) =>
        digestKeys.map((digestKey) => keyDigest(digestKey, each)),
      );
      const all = text.startsWith('sk-') ? [...digests, plainDigestOf(text)] : digests;
      const found = await readKey(options, all);
      const key = found?.key ?? null;
      const at = found ? digests.indexOf(found.digest) : -1;
      // The text under which the key is stored.
      const own = texts[Math.floor(at / digestKeys.length)] ?? text;
      if (found?.isNewest && (found.secretId !== currentSecret.id || at === -1)) {
        // Not awaited, because the key works under its earlier digest too.
        const writing = redigest(database.write, found, {
          digest: keyDigest(digestKeys[0]!, own),
          secretId: currentSecret.id,
        })
          .catch(onError)
          .finally(() => redigesting.delete(writing));
        redigesting.add(writing);
      }
      if (!key) byFingerprint.delete(fingerprint);
      // A key has any number of texts with a channel's number: they must not fill the cache.
      else if (before === revision && (own === text || own === `sk-${text}`)) {
        if (byFingerprint.size >= keysMax) byFingerprint.clear();
        byFingerprint.set(fingerprint, { key, revision });
      }
      return key;
    },
    findById: async (accountId, keyId) => {
      const row = await readKeyById(options, accountId, keyId);
      if (!row) return null;
      return row.revoked_at_ms === null ? completeKey(options, row) : 'revoked';
    },
    findEver: async (accountId, keyId) => {
      const row = await readKeyById(options, accountId, keyId);
      return row ? completeKey(options, row) : null;
    },
    close: async () => {
      stopPolling();
      await Promise.all(redigesting);
    },
  };
}

type Remembered = { readonly key: ApiKey; readonly revision: number };

/**
 * The cache is indexed by a plain hash. It costs a fiftieth of the digest, and no key's text stays
 * in memory.
 */
function fingerprintOf(text: string): string {
  return hash('sha256', text, 'base64');
}

async function readRevisions(read: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await read
    .selectFrom('revisions')
    .selectAll()
    .where('name', 'in', ['keys', movedKeysRevision])
    .execute();
  return new Map(rows.map(({ name, value }) => [name, value]));
}

type Found = {
  readonly key: ApiKey;
  readonly digest: string;
  readonly secretId: string | null;
  /** False: the key was rotated, and this text works until the overlap ends. */
  readonly isNewest: boolean;
};

/** Finds a key by the digest of its text, or of the one before, under any of the secrets. */
async function readKey(
  options: KeyStoreOptions,
  digests: readonly string[],
): Promise<Found | null> {
  const row = await selectKeys(options.database.read)
    .where('api_keys.digest', 'in', digests)
    .where('api_keys.revoked_at_ms', 'is', null)
    .executeTakeFirst();
  if (!row) return readEarlierKey(options, digests);
  const key = await completeKey(options, row);
  return { key, digest: row.digest, secretId: row.secret_id, isNewest: true };
}

async function readEarlierKey(
  options: KeyStoreOptions,
  digests: readonly string[],
): Promise<Found | null> {
  const row = await selectKeys(options.database.read)
    .innerJoin('earlier_keys', 'earlier_keys.key_id', 'api_keys.id')
    .where('earlier_keys.digest', 'in', digests)
    .where('earlier_keys.expires_at_ms', '>', options.clock.nowMs())
    .where('api_keys.revoked_at_ms', 'is', null)
    .select([
      'earlier_keys.digest as earlier_digest',
      'earlier_keys.secret_id as earlier_secret_id',
      'earlier_keys.expires_at_ms as earlier_expires_at_ms',
    ])
    .executeTakeFirst();
  if (!row) return null;
  const key = await completeKey(options, row);
  return {
    key: { ...key, expiresAtMs: Math.min(key.expiresAtMs ?? Infinity, row.earlier_expires_at_ms) },
    digest: row.earlier_digest,
    secretId: row.earlier_secret_id,
    isNewest: false,
  };
}

type Digested = { readonly digest: string; readonly secretId: string };

/**
 * Rehashes a key under the current secret. Only one of several gateways does it. A gateway that
 * still runs under an earlier secret does nothing, because it would undo the change of a newer one.
 */
async function redigest(write: Db, found: Found, { digest, secretId }: Digested): Promise<void> {
  await write
    .updateTable('api_keys')
    .set({ digest, secret_id: secretId })
    .where('id', '=', found.key.id)
    .where('digest', '=', found.digest)
    .where((eb) =>
      eb(
        eb.selectFrom('secrets').select('id').orderBy('current_since_ms', 'desc').limit(1),
        '=',
        secretId,
      ),
    )
    .execute();
}

function readKeyById({ database }: KeyStoreOptions, accountId: string, keyId: string) {
  return selectKeys(database.read)
    .where('api_keys.id', '=', keyId)
    .where('api_keys.account_id', '=', accountId)
    .executeTakeFirst();
}

function selectKeys(read: Db) {
  return read
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('key_owners', 'key_owners.key_id', 'api_keys.id')
    .leftJoin('member_budgets', (join) =>
      join
        .onRef('member_budgets.account_id', '=', 'api_keys.account_id')
        .onRef('member_budgets.user_id', '=', 'key_owners.user_id'),
    )
    .leftJoin('account_telemetry', 'account_telemetry.account_id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select(['frozen', 'price_multiplier_ppm', 'retain_responses', 'cache_generation'])
    .select([
      'accounts.requests_per_minute as account_requests_per_minute',
      'accounts.tokens_per_minute as account_tokens_per_minute',
      'accounts.concurrent_requests as account_concurrent_requests',
      'accounts.allowed_addresses as account_allowed_addresses',
      'account_telemetry.endpoint as export_endpoint',
      'account_telemetry.version as export_version',
      'account_telemetry.sampling_ppm as export_sampling_ppm',
      'account_telemetry.include_content as export_include_content',
    ])
    .select(['member_budgets.user_id as budget_of', 'daily_micros', 'monthly_micros']);
}

/** Adds what other tables have of its account. */
async function completeKey(
  { database, secrets, onError }: KeyStoreOptions,
  row: KeyRow,
): Promise<ApiKey> {
  const { account_id: accountId, mode } = row;
  const [modelMultipliersPpm, ownKeys] = await Promise.all([
    readModelMultipliers(database.read, accountId),
    mode === 'live' ? readOwnKeys(database.read, secrets, { accountId, onError }) : [],
  ]);
  return toApiKey(row, { modelMultipliersPpm, ownKeys });
}

async function readModelMultipliers(
  read: Db,
  accountId: string,
): Promise<ApiKey['modelMultipliersPpm']> {
  const rows = await read
    .selectFrom('account_model_prices')
    .selectAll()
    .where('account_id', '=', accountId)
    .execute();
  return rows.length === 0 ? null : new Map(rows.map((row) => [row.model_id, row.multiplier_ppm]));
}

type KeyRow = InferResult<ReturnType<typeof selectKeys>>[number];

function toApiKey(row: KeyRow, ofAccount: Pick<ApiKey, 'modelMultipliersPpm' | 'ownKeys'>): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    dailyCapMicros: row.daily_cap_micros,
    monthlyCapMicros: row.monthly_cap_micros,
    budget:
      row.budget_of === null
        ? null
        : {
            memberId: row.budget_of,
            dailyMicros: row.daily_micros,
            monthlyMicros: row.monthly_micros,
          },
    models: row.models === null ? null : new Set(JSON.parse(row.models) as string[]),
    scopes: row.scopes === null ? null : new Set(JSON.parse(row.scopes) as KeyScope[]),
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
    bodyDays: row.body_days,
    marksCache: row.cache_marks === 1,
    isDisabled: row.disabled_at_ms !== null,
    accountFrozen: row.frozen === 1,
    retainResponses: row.retain_responses === 1,
    cacheGeneration: row.cache_generation,
    priceMultiplierPpm: row.price_multiplier_ppm,
    traceExport: toTraceExport(row),
    ...ofAccount,
  };
}

function toTraceExport(row: KeyRow): ApiKey['traceExport'] {
  if (row.export_endpoint === null) return null;
  return {
    accountId: row.account_id,
    version: row.export_version!,
    samplingRatio: row.export_sampling_ppm! / 1_000_000,
    includesContent: row.export_include_content === 1,
  };
}

function toAddressList(json: string | null): AddressList[] {
  return json === null ? [] : [createAddressList(JSON.parse(json) as string[])];
}
