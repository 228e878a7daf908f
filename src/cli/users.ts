// `tollgate users …`: for operators with access to the machine. Each link is printed once, and
// whoever opens it acts as its user.
import type { Config } from '../config/schema.ts';
import type { Role } from '../db/schema.ts';
import { type Mail, sendMail } from '../domain/users/mail.ts';
import { passkeyMail, secondFactorMail } from '../domain/users/messages.ts';
import { listUsers, readEmail } from '../domain/users/user-records.ts';
import { createAccount } from '../management/changes/accounts.ts';
import { inviteMember } from '../management/changes/members.ts';
import {
  createFirstRunLink,
  createResetLink,
  removePasskeys,
} from '../management/changes/users.ts';
import { withInstallation } from './installation.ts';
import { CommandFailed, printResult, tableOf, type JsonOption } from './output.ts';

export async function listUsersCommand(options: JsonOption): Promise<void> {
  await withInstallation('users list', async ({ database }) => {
    const users = await listUsers(database.read);
    const table = tableOf(users, {
      USER: ({ id }) => id,
      'E-MAIL': ({ email }) => email,
      NAME: ({ name }) => name,
      OPERATOR: ({ operator }) => (operator ? 'operator' : ''),
      ACCOUNTS: ({ accounts }) => accounts.map(({ id, role }) => `${id} (${role})`).join(', '),
      CREATED: (user) => user.created_at,
    });
    printResult(options, users, table);
  });
}

type LinkOptions = JsonOption & { readonly account?: string; readonly role: Role };

/** Creates an invitation: to the given account, or to a new one. */
export async function createLinkCommand(
  address: string,
  { account, role, ...options }: LinkOptions,
): Promise<void> {
  await withInstallation('users create-link', async ({ config, changes }) => {
    const email = readEmail(address);
    if (email === null) throw noAddress(address);
    const invited = await changes.together(async (grouped) => {
      const accountId = account ?? (await createAccount(grouped, { name: email })).id;
      const invitation = { accountId, email, role, invitedBy: null, mailed: false };
      return { ...(await inviteMember(grouped, invitation)), accountId };
    });
    const { accountId, accountName, token } = invited;
    const link = linkTo(config, `/invitation?token=${token}`);
    printResult(
      options,
      { email, account_id: accountId, role, link },
      `Give this link to ${email}. It works once, within seven days, and adds them to account ${accountName} as ${role}:\n${link}`,
    );
  });
}

type ResetOptions = JsonOption & { readonly removeSecondFactor?: true };

export async function resetPasswordCommand(address: string, options: ResetOptions): Promise<void> {
  await withInstallation('users reset-password', async ({ config, changes }) => {
    const { removeSecondFactor: withoutSecondFactor } = options;
    if (readEmail(address) === null) throw noAddress(address);
    const reset = await createResetLink(changes, { email: address }, { withoutSecondFactor });
    const { user, token, passkeysRemoved } = reset;
    const { email } = user;
    if (withoutSecondFactor && user.hasSecondFactor)
      await mailIfPossible(config, { to: email, ...secondFactorMail('off') });
    if (passkeysRemoved > 0)
      await mailIfPossible(config, { to: email, ...passkeyMail({ kind: 'removed-all' }) });
    const link = linkTo(config, `/reset-password?token=${token}`);
    printResult(
      options,
      { email, link },
      `Give this link to ${email}. It works once, within 24 hours:\n${link}`,
    );
  });
}

export async function removePasskeysCommand(address: string, options: JsonOption): Promise<void> {
  await withInstallation('users remove-passkeys', async ({ config, changes }) => {
    if (readEmail(address) === null) throw noAddress(address);
    const { user, count } = await removePasskeys(changes, { email: address });
    const { email } = user;
    if (count > 0)
      await mailIfPossible(config, { to: email, ...passkeyMail({ kind: 'removed-all' }) });
    printResult(
      options,
      { email, removed: count },
      count === 0
        ? `${email} has no passkeys.`
        : `Removed ${count === 1 ? 'one passkey' : `${count} passkeys`} of ${email}. Sessions continue; "tollgate users reset-password" makes a link that ends them.`,
    );
  });
}

export async function firstRunLinkCommand(options: JsonOption): Promise<void> {
  await withInstallation('users first-run-link', async ({ config, changes }) => {
    const token = await createFirstRunLink(changes);
    if (token === null)
      throw new CommandFailed(
        'there are users already; invite more with "tollgate users create-link"',
      );
    const link = linkTo(config, `/first-run?token=${token}`);
    printResult(
      options,
      { link },
      `The first person to open this link becomes operator. It works once, within 24 hours:\n${link}`,
    );
  });
}

function noAddress(text: string): CommandFailed {
  return new CommandFailed(`${text} is not an e-mail address`);
}

/** A failed e-mail does not undo the change. */
async function mailIfPossible({ smtp }: Config, mail: Mail): Promise<void> {
  if (!smtp) return;
  try {
    await sendMail(smtp, mail);
  } catch (error) {
    process.stderr.write(`The e-mail to the user could not be sent: ${(error as Error).message}\n`);
  }
}

/** Uses the configured port: a command cannot know which port a running gateway took. */
export function linkTo({ server }: Config, path: string): string {
  const host = server.host === '0.0.0.0' || server.host === '::' ? '127.0.0.1' : server.host;
  const local = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
  return (server.public_url ?? local) + path;
}
