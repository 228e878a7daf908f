// What is asked of e-mail addresses, names and passwords that somebody chooses, in words for the field.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { hashPassword, passwordCharactersMax, passwordCharactersMin, PasswordsBusy } from '../../users/password.ts';
import { normalizeEmail } from '../../users/user-records.ts';

/** As the sign-in library knows them: an address that it refuses could never sign in. */
const emailPattern = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** In lower case. Throws ApiError 400. */
export function checkEmail(email: string): string {
  const normalized = normalizeEmail(email);
  if (!emailPattern.test(normalized)) throw invalidRequest('email', 'This is not an e-mail address.');
  return normalized;
}

/** Without spaces around it. Throws ApiError 400. */
export function checkName(name: string): string {
  const trimmed = name.replaceAll(/\s+/g, ' ').trim();
  if (trimmed === '') throw invalidRequest('name', 'A name is missing.');
  return trimmed;
}

/** The hash of a new password. Throws ApiError: 400 when it is too short, too long or the e-mail address, 503 when too many are being hashed. */
export async function checkNewPassword(
  password: string,
  { email, param = 'password' }: { readonly email: string | null; readonly param?: string },
): Promise<string> {
  if (password.length < passwordCharactersMin) {
    throw invalidRequest(param, `A password has at least ${passwordCharactersMin} characters.`);
  }
  if (password.length > passwordCharactersMax) {
    throw invalidRequest(param, `A password has at most ${passwordCharactersMax} characters.`);
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
    throw new ApiError('overloaded', 'Too many people are signing in. Try again in a moment.', { retryAfterSeconds: 5 });
  }
}
