// The texts of e-mails. Plain text, so that the reader sees where a link leads.
import type { Role } from '../../db/schema.ts';
import { unlinked } from '../../lib/unlinked.ts';

type Text = { readonly subject: string; readonly text: string };

export function invitationMail(what: {
  readonly accountName: string;
  readonly invitedBy: string;
  readonly role: Role;
  readonly link: string;
}): Text {
  const accountName = unlinked(what.accountName);
  return {
    subject: `You are invited to ${accountName}`,
    text: lines(
      `${unlinked(what.invitedBy)} invites you to the account ${accountName} as ${what.role === 'viewer' || what.role === 'member' ? 'a' : 'an'} ${what.role}.`,
      '',
      `Accept here, within seven days: ${what.link}`,
      '',
      'If you did not expect this e-mail, ignore it.',
    ),
  };
}

export function passwordResetMail(link: string): Text {
  return {
    subject: 'Choose a new password',
    text: lines(
      'Somebody, probably you, asked for a new password for this e-mail address.',
      '',
      `Choose it here, within an hour: ${link}`,
      '',
      'If this was not you, ignore this e-mail: your password stays as it is.',
    ),
  };
}

export function verifyMail(link: string): Text {
  return {
    subject: 'Confirm your e-mail address',
    text: lines(
      `Confirm that this address is yours, within a day: ${link}`,
      '',
      'If you did not ask for this, ignore this e-mail.',
    ),
  };
}

export function alreadyUserMail(signInLink: string): Text {
  return {
    subject: 'You already have a sign-in here',
    text: lines(
      'Somebody, probably you, tried to sign up with this e-mail address. It already has a sign-in.',
      '',
      `Sign in here: ${signInLink}`,
      'If you forgot your password, you can choose a new one there. If this was not you, ignore this e-mail.',
    ),
  };
}

/** Sent to the old and the new address. */
export function emailChangedMail(email: string): Text {
  return {
    subject: 'Your e-mail address was changed',
    text: lines(`You now sign in with ${email}.`, '', notYou),
  };
}

export function passwordChangedMail(): Text {
  return {
    subject: 'Your password was changed',
    text: lines('Your password was changed. All sessions were signed out.', '', notYou),
  };
}

const secondFactorNews = {
  on: 'The second factor of your sign-in was switched on.',
  off: 'The second factor of your sign-in was switched off: your password alone is enough now.',
  'new-codes':
    'New backup codes were created for the second factor of your sign-in. The earlier ones no longer work.',
} as const;

export function secondFactorMail(news: keyof typeof secondFactorNews): Text {
  return {
    subject: 'The second factor of your sign-in was changed',
    text: lines(secondFactorNews[news], '', notYou),
  };
}

/** `removed-all`: by the operator. */
export function passkeyMail(
  news:
    | { readonly kind: 'added' | 'removed'; readonly name: string }
    | { readonly kind: 'removed-all' },
): Text {
  const texts = {
    added: (name: string) =>
      `The passkey "${name}" was added to your sign-in. It signs in without your password and second factor.`,
    removed: (name: string) => `The passkey "${name}" was removed from your sign-in.`,
    'removed-all': () => 'The operator removed all passkeys from your sign-in.',
  };
  return {
    subject: 'The passkeys of your sign-in were changed',
    text: lines(texts[news.kind]('name' in news ? unlinked(news.name) : ''), '', notYou),
  };
}

const notYou = 'If this was not you, tell the operator of this service at once.';

function lines(...texts: string[]): string {
  return `${texts.join('\n')}\n`;
}
