// `tollgate keys …`
import { loadCatalog } from '../catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import { digestKeyFrom } from '../keys/key-text.ts';
import { createKey, listKeys, revokeKey, updateKey, type KeyControls, type KeyListing } from '../keys/manage-keys.ts';
import type { Micros } from '../lib/money.ts';
import { resolveModelId, withInstallation } from './installation.ts';
import { CommandFailed, dollars, formatTable, printResult, type JsonOption } from './output.ts';
import { none, orNull, type OrNone } from './parse.ts';
import { requestLimitsOf, type RequestLimitOptions } from './request-limits.ts';

type LimitOptions = JsonOption &
  RequestLimitOptions & {
    readonly name?: string;
    readonly dailyCapUsd?: OrNone<Micros>;
    readonly monthlyCapUsd?: OrNone<Micros>;
    readonly models?: OrNone<readonly string[]>;
    readonly expires?: OrNone<number>;
  };

export async function createKeyCommand(options: LimitOptions & { account: string; mode: 'live' | 'test' }): Promise<void> {
  await withInstallation(async ({ config, database, secret }) => {
    const controls = controlsOf(config, options);
    const made = await createKey(database, digestKeyFrom(secret), {
      accountId: options.account,
      mode: options.mode,
      ...controls,
    });
    if (!made) throw new CommandFailed(`there is no account ${options.account}; "tollgate accounts list" shows them`);
    printResult(options, made, `${made.key}\n\nThis is shown only now. The key's id is ${made.id}.`);
  });
}

export async function listKeysCommand(options: JsonOption & { account?: string }): Promise<void> {
  await withInstallation(async ({ database }) => {
    const keys = await listKeys(database, options.account ?? null);
    printResult(
      options,
      keys,
      formatTable(
        ['KEY ID', 'KEY', 'NAME', 'ACCOUNT', 'DAILY CAP', 'MONTHLY CAP', 'MODELS', 'RPM', 'TPM', 'AT ONCE', 'STATE'],
        keys.map(keyRow),
      ),
    );
  });
}

export async function updateKeyCommand(keyId: string, options: LimitOptions): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const key = await updateKey(database, keyId, controlsOf(config, options));
    printResult(options, found(key, keyId), `Key ${keyId} is changed; a running gateway follows within seconds.`);
  });
}

export async function revokeKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const key = await revokeKey(database, keyId);
    printResult(options, found(key, keyId), `Key ${keyId} is revoked; a running gateway refuses it within seconds.`);
  });
}

function found(key: KeyListing | null, keyId: string): KeyListing {
  if (!key) throw new CommandFailed(`there is no key ${keyId}; "tollgate keys list" shows their ids`);
  return key;
}

function controlsOf(config: Config, options: LimitOptions): KeyControls {
  const { name, dailyCapUsd, monthlyCapUsd, models, expires } = options;
  return {
    ...requestLimitsOf(options),
    ...(name !== undefined && { name }),
    ...(dailyCapUsd !== undefined && { dailyCapMicros: orNull(dailyCapUsd) }),
    ...(monthlyCapUsd !== undefined && { monthlyCapMicros: orNull(monthlyCapUsd) }),
    ...(models !== undefined && { models: models === none ? null : resolveModels(config, models) }),
    ...(expires !== undefined && { expiresAtMs: orNull(expires) }),
  };
}

/** Kept as catalogue ids, so that an alias in the list allows just what it stands for today. */
function resolveModels(config: Config, names: readonly string[]): string[] {
  const catalog = loadCatalog(config);
  return [...new Set(names.map((name) => resolveModelId(catalog, name)))];
}

function keyRow(key: KeyListing): string[] {
  return [
    key.id,
    key.hint,
    key.name,
    key.account_id,
    capText(key.daily_cap_micros),
    capText(key.monthly_cap_micros),
    key.models === null ? 'all' : key.models.join(','),
    limitText(key.requests_per_minute),
    limitText(key.tokens_per_minute),
    limitText(key.concurrent_requests),
    stateOf(key),
  ];
}

function capText(cap: Micros | null): string {
  return cap === null ? 'none' : dollars(cap);
}

function limitText(limit: number | null): string {
  return limit === null ? 'default' : String(limit);
}

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: KeyListing): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${expiresAt}`;
}
