// `tollgate keys …`
import { changedFields } from '../audit/changed-fields.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { digestKeyFrom } from '../keys/key-text.ts';
import { keyStateOf, listKeys, type KeyListing } from '../keys/list-keys.ts';
import { createKey, revokeKey, setKeyDisabled, updateKey, type KeyControls, type KeyOutcome } from '../keys/manage-keys.ts';
import type { Micros } from '../lib/money.ts';
import { changesBy } from './audit.ts';
import { resolveModelId, withInstallation } from './installation.ts';
import { CommandFailed, dollars, formatTable, printResult, type JsonOption } from './output.ts';
import { none, orNull, type OrNone } from './parse.ts';
import { requestLimitsOf, type RequestLimitOptions } from './request-limits.ts';
import { systemClock } from '../lib/clock.ts';

type LimitOptions = JsonOption &
  RequestLimitOptions & {
    readonly name?: string;
    readonly dailyCapUsd?: OrNone<Micros>;
    readonly monthlyCapUsd?: OrNone<Micros>;
    readonly models?: OrNone<readonly string[]>;
    readonly expires?: OrNone<number>;
  };

export async function createKeyCommand(options: LimitOptions & { account: string; mode: 'live' | 'test' }): Promise<void> {
  await withInstallation(async ({ config, database, secrets }) => {
    const { account: accountId, mode } = options;
    const controls = controlsOf(config, options);
    const { id, key } = await changesBy('keys create', database).commit(async (changing) => {
      const made = await createKey(changing, digestKeyFrom(secrets[0]), { accountId, mode, ...controls });
      if (!made) throw new CommandFailed(`there is no account ${accountId}; "tollgate accounts list" shows them`);
      const change = { action: 'key.create', subject: made.id, accountId, before: null, after: made.listing };
      return { result: made, change };
    });
    printResult(options, { id, key }, `${key}\n\nThis is shown only now. The key's id is ${id}.`);
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
    const controls = controlsOf(config, options);
    const change = (changing: Database) => updateKey(changing, { keyId }, controls);
    const key = await commitKeyChange({ database, keyId, command: 'update' }, change);
    printResult(options, key, `Key ${keyId} is changed; a running gateway follows within seconds.`);
  });
}

export async function disableKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const change = (changing: Database) => setKeyDisabled(changing, { keyId }, true);
    const key = await commitKeyChange({ database, keyId, command: 'disable' }, change);
    printResult(options, key, `Key ${keyId} is disabled; a running gateway refuses it within seconds.`);
  });
}

export async function enableKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const change = (changing: Database) => setKeyDisabled(changing, { keyId }, false);
    const key = await commitKeyChange({ database, keyId, command: 'enable' }, change);
    printResult(options, key, `Key ${keyId} is enabled; a running gateway takes it within seconds.`);
  });
}

export async function revokeKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const change = (changing: Database) => revokeKey(changing, { keyId });
    const key = await commitKeyChange({ database, keyId, command: 'revoke' }, change);
    printResult(options, key, `Key ${keyId} is revoked; a running gateway refuses it within seconds.`);
  });
}

type KeyCommand = {
  readonly database: Database;
  readonly keyId: string;
  readonly command: 'update' | 'disable' | 'enable' | 'revoke';
};

/** Returns the key as it is then; revoking one that is revoked changes nothing. */
function commitKeyChange(
  { database, keyId, command }: KeyCommand,
  change: (changing: Database) => Promise<KeyOutcome>,
): Promise<KeyListing> {
  return changesBy(`keys ${command}`, database).commit(async (changing) => {
    const outcome = await change(changing);
    if (outcome.kind === 'unknown') throw new CommandFailed(`there is no key ${keyId}; "tollgate keys list" shows their ids`);
    if (outcome.kind === 'revoked') {
      if (command === 'revoke') return { result: outcome.key, change: null };
      throw new CommandFailed(`key ${keyId} is revoked, for good; make another`);
    }
    const { before, after } = outcome;
    const fields = changedFields(before, after);
    const note = { action: `key.${command}`, subject: keyId, accountId: after.account_id };
    return { result: after, change: fields && { ...note, ...fields } };
  });
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

function stateOf(key: KeyListing): string {
  const state = keyStateOf(key, systemClock.nowMs());
  return state === 'active' && key.expires_at !== null ? `until ${key.expires_at}` : state;
}
