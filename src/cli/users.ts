// `tollgate users …`: for operators at the machine. Links are printed once; whoever opens one acts as the person it is for.
import { createAccountIn, findAccounts } from '../accounts/manage-accounts.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import type { Role } from '../db/schema.ts';
import { createLedgers } from '../ledger/create-ledgers.ts';
import { createFirstRunLink } from '../users/first-run.ts';
import { invite } from '../users/invitations.ts';
import { type Mail, sendMail } from '../users/mail.ts';
import { secondFactorMail } from '../users/messages.ts';
import { createResetLink } from '../users/password-reset.ts';
import { findUser, listUsers, normalizeEmail, removeSecondFactor } from '../users/user-records.ts';
import { changesBy } from './audit.ts';
import { withInstallation } from './installation.ts';
import { CommandFailed, formatTable, printResult, type JsonOption } from './output.ts';
import { systemClock } from '../lib/clock.ts';

export async function listUsersCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ database }) => {
    const users = await listUsers(database);
    const rows = users.map((user) => [
      user.id,
      user.email,
      user.name,
      user.operator ? 'operator' : '',
      user.accounts.map(({ id, role }) => `${id} (${role})`).join(', '),
      user.created_at,
    ]);
    printResult(options, users, formatTable(['USER', 'E-MAIL', 'NAME', 'OPERATOR', 'ACCOUNTS', 'CREATED'], rows));
  });
}

type LinkOptions = JsonOption & { readonly account?: string; readonly role: Role };

/** An invitation; without an account, into a new one. */
export async function createLinkCommand(address: string, { account, role, ...options }: LinkOptions): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const email = checkEmail(address);
    const { accountId, name, token } = await changesBy('users create-link', database).commit(async (changing) => {
      const into = account === undefined ? await makeAccountFor(changing, email) : await findAccountOrFail(changing, account);
      const invitation = { accountId: into.id, email, role, invitedBy: null, mailed: false };
      const links = (await invite(changing, invitation, systemClock.nowMs()))!;
      const note = { action: 'invitation.create', subject: links.id, accountId: into.id, before: null };
      const after = { email, role, ...(account === undefined && { account_created: into.name }) };
      return { result: { accountId: into.id, name: into.name, token: links.token }, change: { ...note, after } };
    });
    const link = linkTo(config, `/invitation?token=${token}`);
    printResult(
      options,
      { email, account_id: accountId, role, link },
      `Give this link to ${email}. It works once, for seven days, and leads into the account ${name} as ${role}:\n${link}`,
    );
  });
}

type ResetOptions = JsonOption & { readonly removeSecondFactor?: true };

export async function resetPasswordCommand(address: string, options: ResetOptions): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const email = checkEmail(address);
    const user = await findUser(database, { email });
    if (!user) throw new CommandFailed(`there is no user ${email}; "tollgate users list" shows them`);
    const token = await changesBy('users reset-password', database).commit(async (changing) => {
      if (options.removeSecondFactor) await removeSecondFactor(changing.write, user.id);
      const after = { email, ...(options.removeSecondFactor && { second_factor: false }) };
      return {
        result: await createResetLink(changing, { user, mailed: false }, systemClock.nowMs()),
        change: { action: 'user.reset-link', subject: user.id, before: null, after },
      };
    });
    if (options.removeSecondFactor && user.hasSecondFactor)
      await mailIfPossible(config, { to: email, ...secondFactorMail('off') });
    const link = linkTo(config, `/reset-password?token=${token}`);
    printResult(options, { email, link }, `Give this link to ${email}. It works once, for 24 hours:\n${link}`);
  });
}

export async function firstRunLinkCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const token = await changesBy('users first-run-link', database).commit(async (changing) => {
      const result = await createFirstRunLink(changing, systemClock.nowMs());
      if (result === null) throw new CommandFailed('there are users already; "tollgate users create-link" lets further ones in');
      return { result, change: { action: 'user.first-run-link', subject: 'first user', before: null, after: null } };
    });
    const link = linkTo(config, `/first-run?token=${token}`);
    printResult(options, { link }, `Whoever opens this link first becomes operator. It works once, for 24 hours:\n${link}`);
  });
}

async function makeAccountFor({ write }: Database, name: string) {
  const { id } = await createAccountIn(write, { name }, { createLedgers, nowMs: systemClock.nowMs() });
  return { id, name };
}

async function findAccountOrFail(database: Database, id: string) {
  const [account] = await findAccounts(database, [id]);
  if (!account) throw new CommandFailed(`there is no account ${id}; "tollgate accounts list" shows them`);
  return account;
}

/** A mail that cannot be sent does not undo the change. */
async function mailIfPossible({ smtp }: Config, mail: Mail): Promise<void> {
  if (!smtp) return;
  try {
    await sendMail(smtp, mail);
  } catch (error) {
    process.stderr.write(`The user could not be told by e-mail: ${(error as Error).message}\n`);
  }
}

function checkEmail(address: string): string {
  const email = normalizeEmail(address);
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new CommandFailed(`${address} is not an e-mail address`);
  return email;
}

/** A command does not know which port a running gateway has taken, but which it was told to. */
function linkTo({ server }: Config, path: string): string {
  const host = server.host === '0.0.0.0' || server.host === '::' ? '127.0.0.1' : server.host;
  const local = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
  return (server.public_url ?? local) + path;
}
