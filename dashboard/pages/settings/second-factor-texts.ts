// Codes and secrets of the second factor, as people read, type and keep them.

/** `JBSW Y3DP EHPK`: in groups of four, so that nobody loses the place. */
export function inGroups(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** What was meant: apps show `123 456`. */
export function codeOf(entered: string): string {
  return entered.replaceAll(/\s/g, '');
}

export function checkCode(entered: string): string | null {
  return /^\d{6}$/.test(codeOf(entered)) ? null : 'Enter the six digits that the app shows.';
}

/** A code of the app or a backup code, whichever was entered. */
export function secondFactorOf(entered: string): { readonly code: string; readonly kind: 'totp' | 'backup' } {
  return checkCode(entered) === null ? { code: codeOf(entered), kind: 'totp' } : { code: entered.trim(), kind: 'backup' };
}

type BackupCodes = { readonly serviceName: string; readonly email: string; readonly codes: readonly string[] };

/** A text file to keep, which says in a year what it is for. */
export function backupCodesFile({ serviceName, email, codes }: BackupCodes): { readonly name: string; readonly text: string } {
  const plainName = serviceName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return {
    name: plainName === '' ? 'backup-codes.txt' : `${plainName}-backup-codes.txt`,
    text: `Backup codes of ${serviceName} for ${email}\nEach signs you in once, in place of the app's code.\n\n${codes.join('\n')}\n`,
  };
}
