// `tollgate keys …`
import type { KeyScope } from '../terms/key-scope.ts';
import type { Mode } from '../terms/mode.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import type { Config } from '../config/schema.ts';
import { listKeyOwners } from '../domain/keys/key-owners.ts';
import { keyStateOf, listKeys, type KeyListing } from '../domain/keys/list-keys.ts';
import type { KeyControls } from '../domain/keys/manage-keys.ts';
import type { Micros } from '../lib/money.ts';
import { bodyDaysProblem, changeKey, createKey, rotateKey } from '../management/changes/keys.ts';
import { requireAccount } from '../management/changes/accounts.ts';
import { type Installation, resolveModelIds } from './installation.ts';
import { CommandFailed, dollars, requireChange, tableOf, type Output } from './output.ts';
import { orNull, requestLimitsOf, type OrNone, type RequestLimitOptions } from './parse.ts';
import { systemClock } from '../lib/clock.ts';

type LimitOptions = RequestLimitOptions & {
  readonly name?: string;
  readonly dailyCapUsd?: OrNone<Micros>;
  readonly monthlyCapUsd?: OrNone<Micros>;
  readonly models?: OrNone<readonly string[]>;
  readonly scopes?: OrNone<readonly KeyScope[]>;
  readonly expires?: OrNone<number>;
  readonly keepBodies?: OrNone<number>;
  readonly cacheMarks?: 'on' | 'off';
};

export async function createKeyCommand(
  { config, changes, secrets }: Installation,
  options: LimitOptions & { account: string; mode: Mode },
): Promise<Output> {
  const { account: accountId, mode } = options;
  const { id, key } = await createKey(changes, secrets[0], {
    accountId,
    mode,
    ...controlsOf(config, options),
  });
  return [{ id, key }, `${key}\n\nThe key is shown only once. Its id is ${id}.`];
}

export async function listKeysCommand(
  { database }: Installation,
  { account }: { readonly account?: string },
): Promise<Output> {
  if (account !== undefined) await requireAccount(database.read, account);
  const listings = await listKeys(database.read, account ?? null);
  const owners = await listKeyOwners(database.read, account ?? null);
  const keys = listings.map((key) => ({ ...key, owner: owners.get(key.id) ?? null }));
  const table = tableOf(keys, {
    'KEY ID': ({ id }) => id,
    KEY: ({ hint }) => hint,
    NAME: ({ name }) => name,
    ACCOUNT: (key) => key.account_id,
    OWNER: ({ owner }) => owner?.name ?? '',
    'DAILY CAP': (key) => capText(key.daily_cap_micros),
    'MONTHLY CAP': (key) => capText(key.monthly_cap_micros),
    MODELS: ({ models }) => models?.join(',') ?? 'all',
    SCOPES: ({ scopes }) => scopes?.join(',') ?? 'all',
    RPM: (key) => limitText(key.requests_per_minute),
    TPM: (key) => limitText(key.tokens_per_minute),
    'AT ONCE': (key) => limitText(key.concurrent_requests),
    STATE: stateOf,
  });
  return [keys, table];
}

export async function updateKeyCommand(
  { config, changes }: Installation,
  keyId: string,
  options: LimitOptions,
): Promise<Output> {
  requireChange(options);
  const controls = controlsOf(config, options);
  const key = await changeKey(changes, { keyId }, { action: 'update', controls });
  return [key, `Key ${keyId} was changed. Running gateways apply the change within seconds.`];
}

export async function rotateKeyCommand(
  { changes, secrets }: Installation,
  keyId: string,
  { overlap }: { readonly overlap: number },
): Promise<Output> {
  const overlapMs = overlap * 3_600_000;
  const { id, key } = await rotateKey(changes, secrets[0], { keyId, overlapMs });
  const rest =
    overlapMs === 0
      ? 'The key before no longer works.'
      : `The key before works for ${overlap === 1 ? 'one hour' : `${overlap} hours`} more.`;
  return [{ id, key }, `${key}\n\nThe key is shown only once. ${rest}`];
}

const outcomes = {
  disable: 'disabled. Running gateways refuse it',
  enable: 'enabled. Running gateways accept it',
  revoke: 'revoked. Running gateways refuse it',
};

export async function switchKeyCommand(
  { changes }: Installation,
  action: keyof typeof outcomes,
  keyId: string,
): Promise<Output> {
  const key = await changeKey(changes, { keyId }, { action });
  return [key, `Key ${keyId} is ${outcomes[action]} within seconds.`];
}

function controlsOf(config: Config, options: LimitOptions): KeyControls {
  const { name, models, cacheMarks } = options;
  const bodyDays = orNull(options.keepBodies);
  const problem = bodyDays === undefined ? null : bodyDaysProblem(config, bodyDays);
  if (problem !== null) throw new CommandFailed(`--keep-bodies ${problem}`);
  return {
    ...requestLimitsOf(options),
    name,
    dailyCapMicros: orNull(options.dailyCapUsd),
    monthlyCapMicros: orNull(options.monthlyCapUsd),
    models: Array.isArray(models) ? resolveModelIds(loadCatalog(config), models) : orNull(models),
    scopes: orNull(options.scopes),
    expiresAtMs: orNull(options.expires),
    bodyDays,
    marksCache: cacheMarks && cacheMarks === 'on',
  };
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
