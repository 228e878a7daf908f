// Reads LiteLLM's keys and their owners: a team's or an organisation's keys are of its account, all
// others of their user's. LiteLLM has no balances, so the operator names the opening credit.
import type { ForeignRow } from '../../db/foreign.ts';
import { formatUsd, type Micros, micros } from '../../lib/money.ts';
import { microsOf } from './decimal.ts';
import { type AccessGroups, type LiteLlmSource, readModels } from './litellm-models.ts';
import { notesOf, PlanDraft, type ResolveModel } from './plan-draft.ts';
import type { ImportPlan } from './plan.ts';
import { isTrue, listOf, objectOf, text } from './reading.ts';

type Context = {
  readonly resolve: ResolveModel;
  readonly nowMs: number;
  /** Credited to each account that comes. */
  readonly creditMicros: Micros;
};

type Source = Pick<Context, 'nowMs' | 'creditMicros'> & {
  readonly draft: PlanDraft;
  readonly groups: AccessGroups;
  readonly budgets: Rows;
  readonly teams: Rows;
  readonly organisations: Rows;
  readonly users: Rows;
  readonly earlier: readonly ForeignRow[];
};
type Rows = ReadonlyMap<string, ForeignRow>;

export async function readLiteLlm(
  source: LiteLlmSource,
  { resolve, nowMs, creditMicros }: Context,
): Promise<ImportPlan> {
  const draft = new PlanDraft(resolve);
  const groups = await readModels(draft, source);
  const rows = async (table: string) => (await source.database?.rows(`LiteLLM_${table}`)) ?? [];
  const byId = async (table: string, id: string) =>
    new Map((await rows(table)).map((row) => [text(row[id]), row]));
  const whole: Source = {
    draft,
    groups,
    nowMs,
    creditMicros,
    budgets: await byId('BudgetTable', 'budget_id'),
    teams: await byId('TeamTable', 'team_id'),
    organisations: await byId('OrganizationTable', 'organization_id'),
    users: await byId('UserTable', 'user_id'),
    earlier: await rows('DeprecatedVerificationToken'),
  };
  const keys = await rows('VerificationToken');
  const models = await byId('ModelTable', 'id');
  const aliases = [
    ...keys,
    ...[...whole.teams.values()].map((team) => models.get(text(team['model_id'])) ?? {}),
  ];
  for (const row of aliases)
    for (const [alias, target] of Object.entries(objectOf(row['aliases'])))
      draft.alias(alias, text(target));
  const used = keys.filter((row) => readKey(whole, row)).map(accountOf);
  const teams = [...whole.teams.keys()].map((id) => `team ${id}`);
  for (const id of new Set([...teams, ...used])) readAccount(whole, id);
  const memberships = await rows('TeamMembership');
  for (const row of memberships.filter(({ budget_id: id }) => id !== null))
    draft.loses(
      `budget of ${text(row['user_id'])} in team ${text(row['team_id'])}`,
      'set it when they have accepted, in the dashboard',
    );
  if (source.database) {
    draft.loses('master key', 'make an admin key: tollgate admin-keys create');
    draft.loses(
      'history of requests, and what was spent in the running windows',
      'it is no part of the books here: caps begin anew',
    );
  }
  return draft.finish();
}

function accountOf(key: ForeignRow): string {
  const owners = [
    ['team', key['team_id']],
    ['organization', key['organization_id']],
    ['user', key['user_id']],
  ] as const;
  const owner = owners.find(([, id]) => text(id) !== '');
  return owner ? `${owner[0]} ${text(owner[1])}` : 'keys of nobody';
}

function readAccount({ draft, creditMicros, ...source }: Source, sourceId: string): void {
  const [kind = '', ...rest] = sourceId.split(' ');
  const id = rest.join(' ');
  const all = { team: source.teams, organization: source.organisations, user: source.users }[kind];
  const row = all?.get(id) ?? {};
  const name =
    text(row['team_alias'] ?? row['organization_alias'] ?? row['user_alias']) ||
    text(row['user_email']) ||
    sourceId;
  const budget = present({ ...source.budgets.get(text(row['budget_id'])), ...present(row) });
  const max = microsOf(budget['max_budget']);
  draft.account({
    sourceId,
    name,
    balanceMicros: creditMicros,
    isOff: isTrue(row['blocked']),
    requestsPerMinute: countOf(budget['rpm_limit']),
    tokensPerMinute: countOf(budget['tpm_limit']),
    notes: notesOf({
      'blocked there: it arrives frozen': isTrue(row['blocked']),
      'no balance: LiteLLM has none. Give --credit-usd, or credit it': creditMicros === 0,
      [`its budget of $${formatUsd(max ?? creditMicros)} in ${text(budget['budget_duration']) || 'its life'} has no counterpart: its balance is its limit`]:
        max !== null,
    }),
  });
  const members =
    kind === 'user'
      ? [{ user_id: id, role: 'admin' }]
      : listOf(row['members_with_roles']).map(objectOf);
  for (const member of members) {
    const user = source.users.get(text(member['user_id'])) ?? {};
    const email = text(user['user_email'] ?? member['user_email']).trim();
    const role = text(member['role']) === 'admin' ? 'owner' : 'member';
    draft.user({ account: sourceId, name: email || text(member['user_id']), email, role });
  }
}

const daily = /^(?:1d|24h|daily)$/;
/** LiteLLM's 30 days end on the first of the month too. */
const monthly = /^(?:30d|1mo|monthly)$/;

/** Returns false when the key stays. */
function readKey(source: Source, row: ForeignRow): boolean {
  const { draft, nowMs, budgets, earlier } = source;
  // A shared budget counts only where the key's own field is empty.
  const key = present({ ...budgets.get(text(row['budget_id'])), ...present(row) });
  const windows = [key, ...listOf(key['budget_limits']).map(objectOf)].flatMap((each) => {
    const max = microsOf(each['max_budget']);
    return max === null
      ? []
      : [{ max: micros(Math.max(0, max)), duration: text(each['budget_duration']) }];
  });
  const least = (pattern: RegExp) => {
    const caps = windows.filter(({ duration }) => pattern.test(duration)).map(({ max }) => max);
    return caps.length === 0 ? null : micros(Math.min(...caps));
  };
  const life = least(/^$/);
  const left = life === null ? null : micros(Math.max(0, life - (microsOf(key['spend']) ?? 0)));
  const others = windows.filter(
    ({ duration }) => duration !== '' && !daily.test(duration) && !monthly.test(duration),
  );
  const metadata = objectOf(key['metadata']);
  const filled = (value: unknown) =>
    listOf(value).length > 0 || Object.keys(objectOf(value)).length > 0;
  const token = text(key['token']);
  const expiresAtMs = timeOf(key['expires']);
  const type = text(key['key_type']);
  const routes = listOf(key['allowed_routes']).map(text);
  const { models, notes } = modelsOf(source, key);
  return draft.key({
    name: text(key['key_alias']) || text(key['key_name']) || 'a key',
    // Not the hash, which would stay in the audit log: who guesses a key could check it.
    sourceId: `key ${text(key['created_at'])} ${text(key['key_name'])} ${token.slice(0, 4)}`,
    account: accountOf(key),
    text: { sha256: token },
    hint: text(key['key_name']).replace('...', '…') || 'sk-…',
    earlier: earlier
      .filter((old) => text(old['active_token_id']) === token)
      .map((old) => ({ sha256: text(old['token']), expiresAtMs: timeOf(old['revoke_at']) ?? 0 }))
      .filter((old) => old.expiresAtMs > nowMs && isHash(old.sha256)),
    stays: notesOf({
      expired: expiresAtMs !== null && expiresAtMs <= nowMs,
      'it has no SHA-256 of a key': !isHash(token),
      [`it is for ${type === 'management' ? 'the management' : 'reading'} only: make an admin key, or one with fewer scopes`]:
        type === 'management' || type === 'read_only',
    }),
    isOff: isTrue(key['blocked']),
    dailyCapMicros: left === 0 ? left : least(daily),
    monthlyCapMicros: least(monthly),
    lifetimeCapMicros: left,
    losesCap: (left !== null && left > 0) || others.length > 0,
    models,
    requestsPerMinute: countOf(key['rpm_limit']),
    tokensPerMinute: countOf(key['tpm_limit']),
    concurrentRequests: countOf(key['max_parallel_requests']),
    expiresAtMs,
    notes: [
      ...notesOf({
        'blocked there': isTrue(key['blocked']),
        [`its budget for life, of which $${formatUsd(left ?? micros(0))} are left, has no counterpart`]:
          left !== null && left > 0,
        'its budget for life allows nothing: so does a daily cap of 0': left === 0,
        'soft budget': key['soft_budget'] !== undefined,
        'tokens per day': key['tpd_limit'] !== undefined,
        'budgets of single models': filled(key['model_max_budget']),
        'limits of single models':
          filled(metadata['model_rpm_limit']) || filled(metadata['model_tpm_limit']),
        budget_fallbacks: filled(key['budget_fallbacks']),
        'policies and guardrails': filled(key['policies']) || filled(metadata['guardrails']),
        'access groups and permissions of objects':
          filled(key['access_group_ids']) || key['object_permission_id'] !== undefined,
        [`routes: ${routes.join(', ')}`]: routes.some((route) => route !== 'llm_api_routes'),
      }),
      ...others.map(
        ({ max, duration }) => `its budget of $${formatUsd(max)} in ${duration} has no counterpart`,
      ),
      ...notes,
    ],
  });
}

/** What the key, its team or user, and its organisation all allow. null: every model. */
function modelsOf(
  { draft, groups, ...source }: Source,
  key: ForeignRow,
): { readonly models: readonly string[] | null; readonly notes: readonly string[] } {
  const team = source.teams.get(text(key['team_id']));
  const organisation = source.organisations.get(
    text(key['organization_id']) || text(team?.['organization_id']),
  );
  const above = [team ?? source.users.get(text(key['user_id'])), organisation].map((owner) =>
    listOf(owner?.['models']).map(text),
  );
  const own = listOf(key['models']).map(text);
  const names = draft.modelNames();
  const isPattern = (name: string) => name.endsWith('*');
  const expand = (name: string) =>
    isPattern(name)
      ? names.filter((each) => each.startsWith(name.slice(0, -1)))
      : (groups.get(name) ?? [name]);
  const lists = [own, ...above]
    .filter(
      (list) =>
        list.length > 0 && !list.some((name) => /^all-(?:team|proxy)-models$|^\*$/.test(name)),
    )
    .map((list) => list.filter((name) => name !== 'no-default-models').flatMap(expand));
  const [first, ...others] = lists;
  const models = first?.filter((name) => others.every((list) => list.includes(name))) ?? null;
  return {
    models,
    notes: own
      .filter((name) => isPattern(name) && name !== '*')
      .map((name) => `the pattern ${name}: only models that are here now`),
  };
}

function present(row: ForeignRow): ForeignRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** Its times have no zone, and are UTC. */
function timeOf(value: unknown): number | null {
  const ms = Date.parse(
    `${text(value)
      .replace(' ', 'T')
      .replace(/(?:Z|[+-]00(?::?00)?)$/, '')}Z`,
  );
  return Number.isNaN(ms) ? null : ms;
}

function countOf(value: unknown): number | null {
  return /^\d{1,10}$/.test(text(value)) ? Number(text(value)) : null;
}

function isHash(value: string): boolean {
  return /^[0-9a-f]{64}$/i.test(value);
}
