// `tollgate keys …`
import { changedFields } from '../audit/changed-fields.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import { digestKeyFrom } from '../keys/key-text.ts';
import { keyStateOf, listKeys, type KeyListing } from '../keys/list-keys.ts';
import { createKey, revokeKey, setKeyDisabled, updateKey, type KeyControls, type KeyOutcome } from '../keys/manage-keys.ts';
import type { Micros } from '../lib/money.ts';
import { noteChange } from './audit.ts';
import { resolveModelId, withInstallation, type Installation } from './installation.ts';
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
  await withInstallation(async ({ config, database, secret }) => {
    const controls = controlsOf(config, options);
    const made = await createKey(database, digestKeyFrom(secret), {
      accountId: options.account,
      mode: options.mode,
      ...controls,
    });
    if (!made) throw new CommandFailed(`there is no account ${options.account}; "tollgate accounts list" shows them`);
    const { id, key, listing } = made;
    await noteChange(database, 'keys create', {
      action: 'key.create',
      subject: id,
      accountId: options.account,
      before: null,
      after: listing,
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
    const outcome = await updateKey(database, { keyId }, controlsOf(config, options));
    const key = await noteOutcome(database, outcome, { keyId, command: 'update' });
    printResult(options, key, `Key ${keyId} is changed; a running gateway follows within seconds.`);
  });
}

export async function disableKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const key = await noteOutcome(database, await setKeyDisabled(database, { keyId }, true), { keyId, command: 'disable' });
    printResult(options, key, `Key ${keyId} is disabled; a running gateway refuses it within seconds.`);
  });
}

export async function enableKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const key = await noteOutcome(database, await setKeyDisabled(database, { keyId }, false), { keyId, command: 'enable' });
    printResult(options, key, `Key ${keyId} is enabled; a running gateway takes it within seconds.`);
  });
}

export async function revokeKeyCommand(keyId: string, options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const outcome = await revokeKey(database, { keyId });
    const key = outcome.kind === 'revoked' ? outcome.key : await noteOutcome(database, outcome, { keyId, command: 'revoke' });
    printResult(options, key, `Key ${keyId} is revoked; a running gateway refuses it within seconds.`);
  });
}

/** Returns the key as it is now. */
async function noteOutcome(
  database: Installation['database'],
  outcome: KeyOutcome,
  { keyId, command }: { readonly keyId: string; readonly command: 'update' | 'disable' | 'enable' | 'revoke' },
): Promise<KeyListing> {
  if (outcome.kind === 'unknown') throw new CommandFailed(`there is no key ${keyId}; "tollgate keys list" shows their ids`);
  if (outcome.kind === 'revoked') throw new CommandFailed(`key ${keyId} is revoked, for good; make another`);
  const { before, after } = outcome;
  const fields = changedFields(before, after);
  const change = { action: `key.${command}`, subject: keyId, accountId: after.account_id };
  if (fields) await noteChange(database, `keys ${command}`, { ...change, ...fields });
  return after;
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
