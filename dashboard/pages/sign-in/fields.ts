// Rules of fields that several of these forms have. The gateway has the last word on all of them.
const passwordMin = 10;
const passwordMax = 256;

export const passwordHint = `At least ${passwordMin} characters. A few words are easier to remember than signs.`;

export function checkNewPassword(password: string): string | null {
  if (password.length < passwordMin) return `Use at least ${passwordMin} characters.`;
  return password.length > passwordMax ? `Use at most ${passwordMax} characters.` : null;
}

export function checkEmail(email: string): string | null {
  return /^\S+@\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.';
}

export function checkName(name: string): string | null {
  return name.trim() === '' ? 'Enter your name.' : null;
}

/** Within this dashboard only: a link must not lead a newly signed-in user elsewhere. */
export function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/';
}
