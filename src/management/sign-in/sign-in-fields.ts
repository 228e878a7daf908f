// Checks e-mail addresses, names and passwords that users choose.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import {
  hashPassword,
  passwordCharactersMax,
  passwordCharactersMin,
  PasswordsBusy,
} from '../../domain/users/password.ts';
import { readEmail } from '../../domain/users/user-records.ts';
import { cleanName } from '../../lib/clean-name.ts';

/** Returns the address in lower case. Throws ApiError 400. */
export function checkEmail(text: string): string {
  const email = readEmail(text);
  if (email === null) throw invalidRequest('email', 'This is not an e-mail address.');
  return email;
}

/** Returns the name as `cleanName` does. Throws ApiError 400. `remedy`: what to do without a name. */
export function checkName(text: string, remedy = 'Enter a name.'): string {
  const name = cleanName(text);
  if (name === '') throw invalidRequest('name', remedy);
  return name;
}

/**
 * Returns the hash of a new password. Throws ApiError 400 when the password is too short, too long
 * or too easy to guess, and 503 when too many are being hashed.
 */
export async function checkNewPassword(
  password: string,
  { email, param = 'password' }: { readonly email: string | null; readonly param?: string },
): Promise<string> {
  if (password.length < passwordCharactersMin) {
    throw invalidRequest(
      param,
      `The password must have at least ${passwordCharactersMin} characters.`,
    );
  }
  if (password.length > passwordCharactersMax) {
    throw invalidRequest(
      param,
      `The password must have at most ${passwordCharactersMax} characters.`,
    );
  }
  if (password.toLowerCase() === email || /^(.)\1*$/s.test(password)) {
    throw invalidRequest(param, 'This password is too easy to guess.');
  }
  return unlessBusy(hashPassword(password));
}

export async function unlessBusy<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PasswordsBusy)) throw error;
    throw new ApiError('overloaded', 'Too many people are signing in. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  }
}
