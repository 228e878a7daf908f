// Formats and parses two-factor codes and secrets.

/** Formats a secret in groups of four: `JBSW Y3DP EHPK`. */
export function inGroups(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** Removes spaces: apps show `123 456`. Backup codes have none. */
export function codeOf(entered: string): string {
  return entered.replaceAll(/\s/g, '');
}

export function checkCode(entered: string): string | null {
  return /^\d{6}$/.test(codeOf(entered)) ? null : 'Enter the six digits from the app.';
}

type BackupCodes = {
  readonly serviceName: string;
  readonly email: string;
  readonly codes: readonly string[];
};

/** Returns a text file with the codes and what they are for. */
export function backupCodesFile({ serviceName, email, codes }: BackupCodes): {
  readonly name: string;
  readonly text: string;
} {
  const plainName = serviceName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return {
    name: plainName === '' ? 'backup-codes.txt' : `${plainName}-backup-codes.txt`,
    text: `Backup codes for ${email} at ${serviceName}\nEach code works once, instead of a code from the app.\n\n${codes.join('\n')}\n`,
  };
}
