// `tollgate users …`: for operators with access to the machine. Each link is printed once, and
// whoever opens it acts as its user.
import type { Config } from '../config/schema.ts';
import type { Role } from '../db/schema.ts';
import { type Mail, sendMail } from '../domain/users/mail.ts';
import { passkeyMail, secondFactorMail } from '../domain/users/messages.ts';
import { listUsers, readEmail } from '../domain/users/user-records.ts';
import { createAccount } from '../management/changes/accounts.ts';
import { inviteMember } from '../management/changes/members.ts';
import { createFirstRunLink, createResetLink } from '../management/changes/users.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, tableOf, type Output } from './output.ts';

export async function listUsersCommand({ database }: Installation): Promise<Output> {
  const users = await listUsers(database.read);
  const table = tableOf(users, {
    USER: ({ id }) => id,
    'E-MAIL': ({ email }) => email,
    NAME: ({ name }) => name,
    OPERATOR: ({ operator }) => (operator ? 'operator' : ''),
    ACCOUNTS: ({ accounts }) => accounts.map(({ id, role }) => `${id} (${role})`).join(', '),
    CREATED: (user) => user.created_at,
  });
  return [users, table];
}

/** Creates an invitation: to the given account, or to a new one. */
export async function createLinkCommand(
  { config, changes }: Installation,
  address: string,
  { account, role }: { readonly account?: string; readonly role: Role },
): Promise<Output> {
  const email = checkAddress(address);
  const { accountId, accountName, token } = await changes.together(async (grouped) => {
    const id = account ?? (await createAccount(grouped, { name: email })).id;
    const invitation = { accountId: id, email, role, invitedBy: null, mailed: false };
    return { ...(await inviteMember(grouped, invitation)), accountId: id };
  });
  const link = linkTo(config, `/invitation?token=${token}`);
  return [
    { email, account_id: accountId, role, link },
    `Give this link to ${email}. It works once, within seven days, and adds them to account ${accountName} as ${role}:\n${link}`,
  ];
}

export async function resetPasswordCommand(
  { config, changes }: Installation,
  address: string,
  { removeSecondFactor: withoutSecondFactor }: { readonly removeSecondFactor?: true },
): Promise<Output> {
  checkAddress(address);
  const reset = await createResetLink(changes, { email: address }, { withoutSecondFactor });
  const { user, token, passkeysRemoved } = reset;
  const { email } = user;
  if (withoutSecondFactor && user.hasSecondFactor)
    await mailIfPossible(config, { to: email, ...secondFactorMail('off') });
  if (passkeysRemoved > 0)
    await mailIfPossible(config, { to: email, ...passkeyMail({ kind: 'removed-all' }) });
  const link = linkTo(config, `/reset-password?token=${token}`);
  return [{ email, link }, `Give this link to ${email}. It works once, within 24 hours:\n${link}`];
}

export async function firstRunLinkCommand({ config, changes }: Installation): Promise<Output> {
  const token = await createFirstRunLink(changes);
  if (token === null)
    throw new CommandFailed(
      'there are users already; invite more with "tollgate users create-link"',
    );
  const link = linkTo(config, `/first-run?token=${token}`);
  return [
    { link },
    `The first person to open this link becomes operator. It works once, within 24 hours:\n${link}`,
  ];
}

/** Returns the address in lower case. */
function checkAddress(text: string): string {
  const email = readEmail(text);
  if (email === null) throw new CommandFailed(`${text} is not an e-mail address`);
  return email;
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
