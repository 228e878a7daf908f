// Reads the database of new-api, or of one-api from which it comes: its users are accounts here,
// its tokens keys, its channels providers. Forks differ, so a column may be missing.
import { withoutTrailing } from '../../lib/without-trailing.ts';
import hosts from '../../../catalog/other-gateways.json' with { type: 'json' };
import { DatabaseUnusable } from '../../db/database-error.ts';
import type { ForeignDatabase, ForeignRow } from '../../db/foreign.ts';
import { isAddressRange } from '../../lib/addresses.ts';
import { formatUsd, zeroMicros } from '../../lib/money.ts';
import { type Decimal, microsOf, millionthsOf, pricesOf, readDecimal, times } from './decimal.ts';
import { literalKey, notesOf, PlanDraft, type ResolveModel } from './plan-draft.ts';
import type { ImportPlan, PlannedPrices } from './plan.ts';
import { isTrue, listOf, objectOf, text, wordsOf } from './reading.ts';

type Source = {
  readonly draft: PlanDraft;
  readonly isOneApi: boolean;
  readonly perDollar: Decimal;
  readonly options: ForeignRow;
  /** The models of each group's channels that are on. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>;
  readonly users: ReadonlyMap<string, ForeignRow>;
  readonly nowMs: number;
};

const usualQuotaPerUnit: Decimal = { digits: 500_000n, scale: 0 };
const two: Decimal = { digits: 2n, scale: 0 };
/** new-api's ratios of writes to a prompt cache: for five minutes, and how much more for an hour. */
const usualWriteRatio: Decimal = { digits: 125n, scale: 2 };
const hourRatio: Decimal = { digits: 16n, scale: 1 };

/** Throws DatabaseUnusable when it is neither product's database. */
export async function readNewApi(
  database: ForeignDatabase,
  { resolve, nowMs }: { readonly resolve: ResolveModel; readonly nowMs: number },
): Promise<ImportPlan> {
  if (!(await database.has('tokens')) || !(await database.has('channels')))
    throw new DatabaseUnusable('This is no database of new-api or one-api: it lacks their tables.');
  const live = async (table: string) =>
    (await database.rows(table)).filter((row) => text(row['deleted_at']) === '');
  const [users, tokens, channels] = [
    await database.rows('users'),
    await live('tokens'),
    await live('channels'),
  ];
  const optionRows = await database.rows('options');
  const options = Object.fromEntries(optionRows.map((row) => [text(row['key']), row['value']]));
  const perDollar = readDecimal(options['QuotaPerUnit']);
  const draft = new PlanDraft(resolve);
  const source: Source = {
    draft,
    isOneApi: tokens.some((row) => 'subnet' in row) || !(await database.has('user_subscriptions')),
    perDollar: perDollar && perDollar.digits > 0n ? perDollar : usualQuotaPerUnit,
    options,
    groups: groupsOf(channels),
    users: new Map(users.map((row) => [text(row['id']), row])),
    nowMs,
  };
  readChannels(source, channels);
  readPrices(source);
  for (const row of users) readUser(source, row);
  for (const row of tokens) readToken(source, row);
  const sumOf = (rows: readonly ForeignRow[], value: (row: ForeignRow) => bigint) => {
    const quota = rows.reduce((total, row) => total + value(row), 0n);
    return `$${formatUsd(microsOf(quota, source.perDollar) ?? zeroMicros)}`;
  };
  const having = async (table: string, status: string) =>
    (await live(table)).filter((row) => text(row['status']) === status);
  const codes = await having('redemptions', '1');
  const codeSum = sumOf(codes, (row) => whole(row['quota']));
  if (codes.length > 0)
    draft.loses(`${codes.length} open redemption codes`, `${codeSum}: credit their holders`);
  const grants = await having('user_subscriptions', 'active');
  const unused = (row: ForeignRow) => whole(row['amount_total']) - whole(row['amount_used']);
  const grantSum = `${sumOf(grants, unused)} that expire, so they are no balance`;
  if (grants.length > 0)
    draft.loses(`${grants.length} active subscriptions`, `${grantSum}: credit what you owe`);
  draft.loses(
    'history of requests and payments',
    'it is no part of the books here: keep the old database',
  );
  return draft.finish();
}

function readUser({ draft, options, perDollar }: Source, row: ForeignRow): void {
  const [id, status] = [text(row['id']), text(row['status'])];
  const group = text(row['group']) || 'default';
  const ratio =
    objectOf(objectOf(options['GroupGroupRatio'])[group])[group] ??
    objectOf(options['GroupRatio'])[group];
  const factor = readDecimal(ratio ?? '1');
  const ppm = factor ? millionthsOf(factor) : -1n;
  const balance = microsOf(row['quota'] ?? 0, perDollar);
  const balanceMicros = balance ?? zeroMicros;
  const isGone = status === '3' || text(row['deleted_at']) !== '';
  const account = `user ${id}`;
  const name = text(row['display_name']) || text(row['username']) || account;
  const stays = notesOf({
    [`deleted there, with $${formatUsd(balanceMicros)}`]: isGone,
    'its balance or the ratio of its group is no number that fits':
      balance === null || ppm < 0n || ppm > 1_000_000_000n,
  });
  const notes = notesOf({
    'disabled there: it arrives frozen': status === '2',
    'its customer at Stripe stays': text(row['stripe_customer']) !== '',
  });
  const terms = { balanceMicros, priceMultiplierPpm: Number(ppm), isOff: status === '2' };
  draft.account({ ...terms, sourceId: account, name, stays, notes });
  if (stays.length === 0)
    draft.user({ account, name, email: text(row['email']).trim(), role: 'owner' });
}

function readToken(source: Source, row: ForeignRow): void {
  const { draft, users, perDollar, nowMs } = source;
  const owner = users.get(text(row['user_id'])) ?? {};
  const [plain, status, ownerStatus] = [
    text(row['key']),
    text(row['status']),
    text(owner['status']),
  ];
  const expiry = Number(row['expired_time'] ?? -1) * 1_000;
  const expiresAtMs = expiry > 0 && Number.isSafeInteger(expiry) ? expiry : null;
  const left = isTrue(row['unlimited_quota'])
    ? null
    : (microsOf(row['remain_quota'] ?? 0, perDollar) ?? zeroMicros);
  const networks = [...wordsOf(row['subnet']), ...wordsOf(row['allow_ips'])];
  const wrong = networks.filter((network) => !isAddressRange(network));
  const isUsedUp = status === '4' || (left !== null && left <= 0);
  const isOwnerOff = ownerStatus === '2';
  const isExpired = status === '3' || (expiresAtMs !== null && expiresAtMs <= nowMs);
  draft.key({
    name: text(row['name']) || `token ${text(row['id'])}`,
    sourceId: `token ${text(row['id'])}`,
    account: `user ${text(row['user_id'])}`,
    text: { plain: `sk-${plain}` },
    hint: `sk-…${plain.slice(-4)}`,
    stays: notesOf({
      'its user is gone':
        ownerStatus === '' || ownerStatus === '3' || text(owner['deleted_at']) !== '',
      'it is too short, or has characters that no key has': !/^[0-9A-Za-z_]{16,190}$/.test(plain),
      expired: isExpired && !isOwnerOff,
    }),
    isOff: isOwnerOff || status !== '1' || isUsedUp || wrong.length > 0,
    notes: notesOf({
      'its user is disabled': isOwnerOff,
      'disabled there': status === '2',
      'its allowance is used up': isUsedUp,
      [`its allowance for life, of which $${formatUsd(left ?? zeroMicros)} are left, has no counterpart`]:
        left !== null && !isUsedUp,
      [`no address range: ${wrong.join(', ')}`]: wrong.length > 0,
      [`its own group ${text(row['group'])}: the account's prices apply`]:
        text(row['group']) !== '',
    }),
    lifetimeCapMicros: left,
    losesCap: left !== null && !isUsedUp,
    models: modelsOf(source, row, text(owner['group']) || 'default'),
    allowedAddresses: networks.length === 0 ? null : networks.filter(isAddressRange),
    expiresAtMs,
  });
}

/** A token without a list may use the models of its group's channels. null: these are all. */
function modelsOf(
  { draft, groups }: Source,
  row: ForeignRow,
  userGroup: string,
): readonly string[] | null {
  const isLimited = !('model_limits_enabled' in row) || isTrue(row['model_limits_enabled']);
  const list = isLimited ? wordsOf(row['model_limits'] ?? row['models']) : [];
  if (list.length > 0) return list;
  const own = text(row['group']);
  const models = groups.get(own === '' || own === 'auto' ? userGroup : own) ?? new Set<string>();
  return draft.modelNames().every((name) => models.has(name)) ? null : [...models];
}

const isOn = (channel: ForeignRow) => text(channel['status']) === '1';

function groupsOf(channels: readonly ForeignRow[]): Source['groups'] {
  const groups = new Map<string, Set<string>>();
  for (const row of channels.filter(isOn))
    for (const group of wordsOf(row['group'] ?? 'default'))
      groups.set(group, new Set([...(groups.get(group) ?? []), ...wordsOf(row['models'])]));
  return groups;
}

type Host = {
  readonly name: string;
  readonly kind?: string;
  readonly base?: string;
  readonly path?: string;
};

function readChannels({ draft, isOneApi }: Source, channels: readonly ForeignRow[]): void {
  const types: Readonly<Record<string, Host>> = isOneApi ? hosts['one-api'] : hosts['new-api'];
  const priorityOf = (row: ForeignRow) => Number(row['priority']) || 0;
  const priorities = [...new Set(channels.filter(isOn).map(priorityOf))].toSorted(
    (one, other) => other - one,
  );
  for (const row of channels) {
    const host = types[text(row['type'])];
    const name = text(row['name']) || `channel ${text(row['id'])}`;
    const base = text(row['base_url']) || host?.base;
    const stays = notesOf({
      'disabled there': !isOn(row),
      [`its type ${text(row['type'])} is not spoken here${host ? ` (${host.name})` : ', or differs between forks'}`]:
        host?.kind === undefined,
      'it has no address': base === undefined && host?.kind !== undefined,
    });
    if (stays.length > 0) {
      draft.note('provider', name, ...stays);
      continue;
    }
    const address = withoutTrailing(base!, '/');
    // A custom channel of new-api has the address of the call itself.
    const [, own] = /^(.*)\/chat\/completions$/.exec(address) ?? [];
    readChannel(draft, row, {
      isOneApi,
      name,
      kind: host!.kind!,
      base_url: own ?? address + host!.path,
      rank: priorities.indexOf(priorityOf(row)),
    });
  }
}

function readChannel(
  draft: PlanDraft,
  row: ForeignRow,
  {
    name,
    rank,
    isOneApi,
    ...host
  }: {
    readonly isOneApi: boolean;
    readonly name: string;
    readonly kind: string;
    readonly base_url: string;
    readonly rank: number;
  },
): void {
  const mapping = objectOf(row['model_mapping']);
  const weight = Math.min(1_000_000, Math.max(1, Math.floor(Number(row['weight'] ?? 1)) || 1));
  for (const field of ['param_override', 'header_override'])
    if (text(row[field]) !== '') draft.loses(`${field} of ${name}`, 'it has no counterpart');
  const [key, ...further] = keysOf(row).map(literalKey);
  if (key === undefined) return;
  const provider = draft.provider(name, { ...host, api_key: key }, further);
  for (const model of wordsOf(row['models']))
    draft.route(model, {
      provider,
      model: isOneApi ? text(mapping[model]) || model : lastOf(mapping, model),
      rank,
      weight,
    });
}

/** new-api maps a mapped name on. It refuses circles, which end here. */
function lastOf(mapping: ForeignRow, model: string): string {
  const names = new Set([model]);
  for (let name = model; ; names.add(name)) {
    const next = text(mapping[name]);
    if (next === '' || names.has(next)) return name;
    name = next;
  }
}

/** One key a line, or a JSON list; `channel_info` names those that are disabled. */
function keysOf(row: ForeignRow): readonly string[] {
  const list = listOf(row['key']);
  const keys = list.length > 0 ? list.map(text) : text(row['key']).trim().split('\n');
  const states = objectOf(objectOf(row['channel_info'])['multi_key_status_list']);
  const usable = keys.filter((_key, index) => text(states[index] ?? '1') === '1');
  const named = [...new Set(usable.map((key) => key.trim()))];
  return named.length > 1 ? named.filter((key) => key !== '') : named.map((key) => key || 'none');
}

function readPrices({ draft, options, isOneApi }: Source): void {
  const map = (name: string) => objectOf(options[name]);
  const ratios = map('ModelRatio');
  const completions = map('CompletionRatio');
  const reads = map('CacheRatio');
  const writes = map('CreateCacheRatio');
  const calls = map('ModelPrice');
  const modes = map('billing_setting.billing_mode');
  const sums = map('billing_setting.billing_expr');
  for (const model of draft.modelNames()) {
    const [ratio, completion] = [readDecimal(ratios[model]), readDecimal(completions[model])];
    if (modes[model] === 'tiered_expr')
      draft.price(model, pricesOfSum(text(sums[model])) ?? 'its price there is more than one sum');
    else if (calls[model] !== undefined) draft.price(model, 'it is sold by the call there');
    else if (!ratio) draft.price(model, 'it has no ratio there');
    else if (!completion)
      draft.price(model, 'its completion ratio is built into the product: look it up there');
    else {
      // A ratio of 1 is $2 for a million tokens; the others are relative to that of the input.
      const input = times(ratio, two);
      const read = readDecimal(reads[model]);
      const write = readDecimal(writes[model]) ?? (isOneApi ? null : usualWriteRatio);
      draft.price(
        model,
        pricesOf({
          input,
          output: times(input, completion),
          cache_read: read && times(input, read),
          cache_write: write && times(input, write),
          cache_write_1h: write && times(times(input, write), hourRatio),
        }),
      );
    }
  }
}

const sumFields: Readonly<Record<string, string>> = {
  p: 'input',
  c: 'output',
  cr: 'cache_read',
  cc: 'cache_write',
  cc1h: 'cache_write_1h',
};

/** Reads `tier("base", p*4 + c*20)`: US dollars for a million tokens. null: it is no plain sum. */
function pricesOfSum(sum: string): PlannedPrices | null {
  const terms = /^\s*(?:tier\("[^"]*",)?([^,()]+)\)?\s*$/.exec(sum)?.[1]?.split('+') ?? [];
  const prices: Record<string, Decimal> = {};
  for (const term of terms) {
    const [, name = '', number] = /^\s*(\w+)\s*\*\s*([\d.]+)\s*$/.exec(term) ?? [];
    const [field, price] = [sumFields[name], readDecimal(number)];
    if (field === undefined || !price || Object.hasOwn(prices, field)) return null;
    prices[field] = price;
  }
  return 'input' in prices && 'output' in prices ? pricesOf(prices) : null;
}

function whole(value: unknown): bigint {
  return /^-?\d{1,30}$/.test(text(value)) ? BigInt(text(value)) : 0n;
}
