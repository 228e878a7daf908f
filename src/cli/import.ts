// `tollgate import …`: shows what would move here from another gateway, and with --apply does it.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ForeignDatabase, type ForeignRow, openForeign } from '../db/foreign.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { resolveKeyModel } from '../domain/catalog/resolve-key-model.ts';
import { readLiteLlm } from '../domain/imports/litellm.ts';
import { objectOf } from '../domain/imports/reading.ts';
import { readNewApi } from '../domain/imports/new-api.ts';
import { fragmentText, type ResolveModel } from '../domain/imports/plan-draft.ts';
import type { ImportPlan, Line } from '../domain/imports/plan.ts';
import { openLedgerInProcess } from '../domain/ledger/open-ledger.ts';
import { listInvitations } from '../domain/users/invitations.ts';
import { listMembers } from '../domain/users/members.ts';
import { readEmail } from '../domain/users/user-records.ts';
import { systemClock } from '../lib/clock.ts';
import { type Micros, zeroMicros } from '../lib/money.ts';
import { snakeCase } from '../lib/snake-case.ts';
import { type Arrival, importPlan } from '../management/changes/imports.ts';
import { inviteMember } from '../management/changes/members.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, type Output, tableOf } from './output.ts';
import { linkTo } from './users.ts';

type Options = {
  readonly apply?: true;
  readonly writeConfig?: string;
  readonly invite?: string;
  readonly strict?: true;
  readonly source?: string;
};

export async function importNewApiCommand(
  installation: Installation,
  options: Options & { readonly database: string },
): Promise<Output> {
  const read = (resolve: ResolveModel) =>
    withForeign(options.database, (source) =>
      readNewApi(source, { resolve, nowMs: systemClock.nowMs() }),
    );
  return runImport(installation, 'new-api', options, read);
}

export async function importLiteLlmCommand(
  installation: Installation,
  options: Options & {
    readonly database?: string;
    readonly config?: string;
    readonly creditUsd?: Micros;
  },
): Promise<Output> {
  const { database: url, config: file, creditUsd: creditMicros = zeroMicros } = options;
  if (url === undefined && file === undefined)
    throw new CommandFailed('give --config, --database, or both');
  const { LITELLM_SALT_KEY, LITELLM_MASTER_KEY } = process.env;
  const saltKey = LITELLM_SALT_KEY || LITELLM_MASTER_KEY || null;
  const read = async (resolve: ResolveModel) => {
    const config = file === undefined ? {} : readYaml(file);
    const from = (database: ForeignDatabase | null) =>
      readLiteLlm(
        { config, database, saltKey },
        { resolve, nowMs: systemClock.nowMs(), creditMicros },
      );
    return url === undefined ? from(null) : withForeign(url, from);
  };
  return runImport(installation, 'litellm', options, read);
}

function readYaml(file: string): ForeignRow {
  try {
    return objectOf(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    // The parser's message quotes the text, which may be a secret.
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT' ? 'does not exist' : `cannot be read as YAML (${code ?? 'no object'})`;
    throw new CommandFailed(`${file} ${why}; name the file with --config`);
  }
}

async function withForeign<Result>(
  url: string,
  work: (source: ForeignDatabase) => Promise<Result>,
): Promise<Result> {
  const source = await openForeign(url);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

async function runImport(
  installation: Installation,
  product: string,
  options: Options,
  read: (resolve: ResolveModel) => Promise<ImportPlan>,
): Promise<Output> {
  const { apply = false, invite, writeConfig, source = product } = options;
  if (invite !== undefined && !apply) throw new CommandFailed('--invite works only with --apply');
  const { config, database, changes, secrets } = installation;
  const catalog = loadCatalog(config);
  const found = await read((name) => resolveKeyModel(catalog, name));
  const plan = options.strict ? withoutLoosenedKeys(found) : found;
  if (writeConfig !== undefined) writeOnce(writeConfig, fragmentText(plan.fragment, source));
  const ledger = apply ? await openLedgerInProcess(database.url) : null;
  try {
    const arrivals = await importPlan(changes, plan, { source, ledger, secret: secrets[0] });
    const invited =
      invite === undefined
        ? null
        : await inviteUsers(installation, plan, { arrivals, file: invite });
    return report(options, product, { plan, arrivals, invited });
  } finally {
    await ledger?.close();
  }
}

function withoutLoosenedKeys(plan: ImportPlan): ImportPlan {
  const keys = plan.keys.map((key) =>
    key.losesCap && key.result === 'comes' ? { ...key, result: 'disabled' as const } : key,
  );
  return { ...plan, keys };
}

/** The file of an interrupted run may be there with the same text. It may have keys. */
function writeOnce(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (readFileSync(file, 'utf8') !== text)
      throw new CommandFailed(`${file} already exists; name a new file`);
  }
}

type Arrivals = ReadonlyMap<Line, Arrival>;

/**
 * Invites the users that have come. A link is in the file before its invitation is in the database:
 * after a kill, a line may be of no use, but no invitation lacks its line.
 */
async function inviteUsers(
  { config, changes, database }: Installation,
  { accounts, users }: ImportPlan,
  { arrivals, file }: { readonly arrivals: Arrivals; readonly file: string },
): Promise<ReadonlyMap<Line, string>> {
  const ids = new Map(
    accounts.flatMap((account) => {
      const { result = 'refused', id } = arrivals.get(account) ?? {};
      return result === 'refused' ? [] : [[account.sourceId, id]];
    }),
  );
  const invited = new Map<Line, string>();
  for (const user of users.filter(({ result }) => result === 'comes')) {
    const [accountId, email] = [ids.get(user.account), readEmail(user.email)];
    if (accountId === undefined || email === null) {
      invited.set(user, email === null ? 'no valid e-mail address' : 'its account did not come');
      continue;
    }
    const open = await listInvitations(database.read, accountId, systemClock.nowMs());
    const members = await listMembers(database.read, accountId);
    const isHere = [...open, ...members].some((other) => other.email === email);
    invited.set(user, isHere ? 'invited before' : 'invited');
    if (isHere) continue;
    const order = { accountId, email, role: user.role, invitedBy: null, mailed: false };
    await changes.together(async (grouped) => {
      const { token } = await inviteMember(grouped, order);
      const link = linkTo(config, `/invitation?token=${token}`);
      const line = JSON.stringify({ email, account_id: accountId, role: user.role, link });
      appendFileSync(file, `${line}\n`, { mode: 0o600, flush: true });
    });
  }
  return invited;
}

type Outcome = {
  readonly plan: ImportPlan;
  readonly arrivals: Arrivals;
  readonly invited: ReadonlyMap<Line, string> | null;
};

function report(options: Options, product: string, { plan, arrivals, invited }: Outcome): Output {
  const { apply = false, writeConfig: file = null } = options;
  const lines = [...plan.accounts, ...plan.keys, ...plan.users, ...plan.others].map((line) => {
    const { result, why, id } = arrivals.get(line) ?? {};
    const came = line.result === 'disabled' ? 'came disabled' : 'came';
    const notes = [why, invited?.get(line), ...line.notes].filter((note) => note !== undefined);
    const isAsPlanned = result === undefined || (result === 'came' && !apply);
    const shown = isAsPlanned ? line.result : result === 'came' ? came : result;
    return { ...shownOf(line), result: shown, ...(apply && id !== undefined && { id }), notes };
  });
  const table = tableOf(lines, {
    WHAT: ({ kind }) => kind,
    NAME: ({ name }) => name,
    RESULT: ({ result }) => result,
    NOTES: ({ notes }) => notes.join('; '),
  });
  const rest = [
    file === null
      ? 'Give --write-config FILE for its providers, models and aliases.'
      : `Providers, models and aliases are in ${file}, which may have keys: keep it secret.`,
    apply
      ? 'Done. To run it again adds only what is missing.'
      : 'Nothing was changed. Give --apply to do it.',
  ];
  return [
    { from: product, applied: apply, config_file: file, lines },
    [table, '', ...rest].join('\n'),
  ];
}

/** A line as JSON, without the text of a key and its hashes: `balance_micros` for `balanceMicros`. */
function shownOf(line: Line): Line {
  const fields = Object.entries(line).filter(([name]) => name !== 'text' && name !== 'earlier');
  return snakeCase(Object.fromEntries(fields)) as unknown as Line;
}
