// Validation of common form fields. The gateway validates them again.
const passwordMin = 10;
const passwordMax = 256;

export const passwordHint = `At least ${passwordMin} characters. A few words are easier to remember than symbols.`;

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
