// What the second factor keeps under the installation's secret, over a rotation. The authenticator app's secret is encrypted, and brought under
// the current one at each start. Of backup codes there are digests only: they stay until a code is used, or new ones are made.
import type { Database } from '../db/database.ts';
import type { Secret, Secrets } from '../lib/secrets.ts';
import { deriveKey } from '../lib/secrets.ts';
import { isDigestUnder, withSecretIds } from './backup-codes.ts';

/** As the sign-in library takes them, the current one first: it writes the version before each text that it encrypts. */
export function librarySecrets(secrets: Secrets): { version: number; value: string }[] {
  return secrets.map((secret) => ({ version: versionOf(secret), value: librarySecret(secret) }));
}

export function librarySecret(secret: Secret): string {
  return deriveKey(secret, 'sign-in').toString('hex');
}

/** Encrypts under the current secret what is encrypted under another that is accepted; what none of them opens stays as it is. */
export async function renewSecondFactors(database: Database, secrets: Secrets): Promise<void> {
  const [current] = secrets;
  for (const row of await readRows(database)) {
    const codes = secrets.length === 1 ? withSecretIds(row.backup_codes, current) : row.backup_codes;
    const secret = isUnder(current, row.secret) ? row.secret : await reencrypted(row.secret, secrets);
    if (codes === row.backup_codes && secret === row.secret) continue;
    await database.write
      .updateTable('user_two_factors')
      .set({ secret, backup_codes: codes })
      .where('user_id', '=', row.user_id)
      .where('secret', '=', row.secret)
      .where('backup_codes', '=', row.backup_codes)
      .execute();
  }
}

export type OtherSecondFactors = {
  /** Users whose app's secret is not under the current secret. */
  readonly apps: number;
  /** Users who have backup codes that are not. */
  readonly backupCodes: number;
};

export async function countSecondFactorsUnderOthers(database: Database, current: Secret): Promise<OtherSecondFactors> {
  const rows = await readRows(database);
  const codesOf = (json: string) => JSON.parse(json) as string[];
  return {
    apps: rows.filter((row) => !isUnder(current, row.secret)).length,
    backupCodes: rows.filter((row) => codesOf(row.backup_codes).some((digest) => !isDigestUnder(current, digest))).length,
  };
}

function readRows({ read }: Database) {
  return read.selectFrom('user_two_factors').select(['user_id', 'secret', 'backup_codes']).execute();
}

/** The key id as a number, which the library wants. */
function versionOf({ id }: Secret): number {
  return Number.parseInt(id, 16);
}

function isUnder(secret: Secret, encrypted: string): boolean {
  return encrypted.startsWith(`$ba$${versionOf(secret)}$`);
}

/** Texts of before there were versions have none: every secret is tried, and the wrong ones do not authenticate it. */
async function reencrypted(encrypted: string, secrets: Secrets): Promise<string> {
  const { symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto');
  const keys = new Map(librarySecrets(secrets).map(({ version, value }) => [version, value]));
  const currentVersion = versionOf(secrets[0]);
  for (const legacySecret of keys.values()) {
    const key = { keys, currentVersion, legacySecret };
    const plain = await symmetricDecrypt({ key, data: encrypted }).catch(() => null);
    if (plain !== null) return symmetricEncrypt({ key, data: plain });
  }
  return encrypted;
}
