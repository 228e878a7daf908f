// `tollgate users …`: for operators at the machine. Links are printed once; whoever opens one acts as the person it is for.
import { createAccountIn, findAccounts } from '../accounts/manage-accounts.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import type { Role } from '../db/schema.ts';
import { createLedgers } from '../ledger/create-ledgers.ts';
import { createFirstRunLink } from '../users/first-run.ts';
import { invite } from '../users/invitations.ts';
import { createResetLink } from '../users/password-reset.ts';
import { findUser, listUsers, normalizeEmail, removeSecondFactor } from '../users/user-records.ts';
import { noteChange } from './audit.ts';
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
    const accountId = account ?? (await makeAccountFor(database, email));
    const [known] = await findAccounts(database, [accountId]);
    if (!known) throw new CommandFailed(`there is no account ${accountId}; "tollgate accounts list" shows them`);
    const { id, token } = await invite(database, { accountId, email, role, invitedBy: null, mailed: false }, systemClock.nowMs());
    await noteChange(database, 'users create-link', {
      action: 'invitation.create',
      subject: id,
      accountId,
      before: null,
      after: { email, role },
    });
    const link = linkTo(config, `/invitation?token=${token}`);
    printResult(
      options,
      { email, account_id: accountId, role, link },
      `Give this link to ${email}. It works once, for seven days, and leads into the account ${known.name} as ${role}:\n${link}`,
    );
  });
}

type ResetOptions = JsonOption & { readonly removeSecondFactor?: true };

export async function resetPasswordCommand(address: string, options: ResetOptions): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const email = checkEmail(address);
    const user = await findUser(database, { email });
    if (!user) throw new CommandFailed(`there is no user ${email}; "tollgate users list" shows them`);
    if (options.removeSecondFactor) {
      await database.write.transaction().execute((transaction) => removeSecondFactor(transaction, user.id));
    }
    const token = await createResetLink(database, { user, mailed: false }, systemClock.nowMs());
    await noteChange(database, 'users reset-password', {
      action: 'user.reset-link',
      subject: user.id,
      accountId: null,
      before: null,
      after: { email, ...(options.removeSecondFactor && { second_factor: false }) },
    });
    const link = linkTo(config, `/reset-password?token=${token}`);
    printResult(options, { email, link }, `Give this link to ${email}. It works once, for 24 hours:\n${link}`);
  });
}

export async function firstRunLinkCommand(options: JsonOption): Promise<void> {
  await withInstallation(async ({ config, database }) => {
    const token = await createFirstRunLink(database, systemClock.nowMs());
    if (token === null) throw new CommandFailed('there are users already; "tollgate users create-link" lets further ones in');
    const link = linkTo(config, `/first-run?token=${token}`);
    printResult(options, { link }, `Whoever opens this link first becomes operator. It works once, for 24 hours:\n${link}`);
  });
}

async function makeAccountFor(database: Database, email: string): Promise<string> {
  return database.write
    .transaction()
    .execute((transaction) => createAccountIn(transaction, { name: email }, { createLedgers, nowMs: systemClock.nowMs() }));
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
