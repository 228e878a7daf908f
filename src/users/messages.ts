// What e-mails say. Plain text: links can be seen for what they are.
import type { Role } from '../db/schema.ts';

type Text = { readonly subject: string; readonly text: string };

export function invitationMail(what: {
  readonly accountName: string;
  readonly invitedBy: string;
  readonly role: Role;
  readonly link: string;
}): Text {
  const accountName = oneLine(what.accountName);
  return {
    subject: `You are invited to ${accountName}`,
    text: lines(
      `${oneLine(what.invitedBy)} invites you to the account ${accountName} as ${what.role === 'member' ? 'a' : 'an'} ${what.role}.`,
      '',
      `Accept here, within seven days: ${what.link}`,
      '',
      'If you do not know what this is about, do nothing.',
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
      'If it was not you, do nothing: your password stays as it is.',
    ),
  };
}

export function verifyMail(link: string): Text {
  return {
    subject: 'Confirm your e-mail address',
    text: lines(`Confirm that this address is yours, within a day: ${link}`, '', 'If you did not ask for this, do nothing.'),
  };
}

export function alreadyUserMail(signInLink: string): Text {
  return {
    subject: 'You already have a sign-in here',
    text: lines(
      'Somebody, probably you, tried to sign up with this e-mail address, which has a sign-in already.',
      '',
      `Sign in here: ${signInLink}`,
      'If you forgot your password, that page leads to a new one. If it was not you, do nothing.',
    ),
  };
}

/** To the old address and to the new one. */
export function emailChangedMail(email: string): Text {
  return { subject: 'Your e-mail address was changed', text: lines(`You now sign in with ${email}.`, '', notYou) };
}

export function passwordChangedMail(): Text {
  return {
    subject: 'Your password was changed',
    text: lines('Your password was changed. All sessions that there were have ended.', '', notYou),
  };
}

const secondFactorNews = {
  on: 'The second factor of your sign-in was switched on.',
  off: 'The second factor of your sign-in was switched off: your password alone opens it now.',
  'new-codes': 'New backup codes were made for the second factor of your sign-in. The earlier ones do not work any more.',
} as const;

export function secondFactorMail(news: keyof typeof secondFactorNews): Text {
  return { subject: 'The second factor of your sign-in was changed', text: lines(secondFactorNews[news], '', notYou) };
}

const notYou = 'If it was not you, tell whoever runs this service at once.';

export function lowBalanceMail(what: {
  readonly accountName: string;
  readonly balance: string;
  readonly threshold: string;
  readonly link: string;
}): Text {
  const accountName = oneLine(what.accountName);
  return {
    subject: `The balance of ${accountName} is low`,
    text: lines(
      `The balance of ${accountName} is ${what.balance}, below the ${what.threshold} that you asked to be warned of.`,
      'When it is used up, requests are refused.',
      '',
      `See and top up: ${what.link}`,
    ),
  };
}

/** Names are the users' own words: none may begin a paragraph of its own. */
function oneLine(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim();
}

function lines(...texts: string[]): string {
  return `${texts.join('\n')}\n`;
}
