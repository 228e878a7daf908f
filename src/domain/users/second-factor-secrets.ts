// Keeps the second factor working when the installation's secret rotates. The authenticator app's
// secret is encrypted, and each start re-encrypts it under the current secret. Backup codes have
// digests only: these stay until a code is used or new codes are made.
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import { deriveKey, type Secret, type Secrets } from '../../lib/secrets.ts';
import { isDigestUnder } from './backup-codes.ts';

/**
 * The secrets in the sign-in library's form, the current one first. The library writes the version
 * before each text that it encrypts.
 */
export function librarySecrets(secrets: Secrets): { version: number; value: string }[] {
  return secrets.map((secret) => ({ version: versionOf(secret), value: librarySecret(secret) }));
}

export function librarySecret(secret: Secret): string {
  return deriveKey(secret, 'sign-in').toString('hex');
}

/**
 * Re-encrypts the apps' secrets that are under an earlier accepted secret. A text that no accepted
 * secret decrypts stays as it is.
 */
export async function renewSecondFactors(database: Database, secrets: Secrets): Promise<void> {
  const [current] = secrets;
  for (const row of await readRows(database.read)) {
    if (isEncryptedUnder(current, row.secret)) continue;
    await database.write
      .updateTable('user_two_factors')
      .set({ secret: await reencrypted(row.secret, secrets) })
      .where('user_id', '=', row.user_id)
      .where('secret', '=', row.secret)
      .execute();
  }
}

type OtherSecondFactors = {
  /** Users whose app's secret is encrypted under another secret. */
  readonly apps: number;
  /** Users with backup codes digested under another secret. */
  readonly backupCodes: number;
};

export async function countSecondFactorsUnderOthers(
  read: Db,
  current: Secret,
): Promise<OtherSecondFactors> {
  const rows = await readRows(read);
  const codesOf = (json: string) => JSON.parse(json) as string[];
  return {
    apps: rows.filter((row) => !isEncryptedUnder(current, row.secret)).length,
    backupCodes: rows.filter((row) =>
      codesOf(row.backup_codes).some((digest) => !isDigestUnder(current, digest)),
    ).length,
  };
}

function readRows(read: Db) {
  return read
    .selectFrom('user_two_factors')
    .select(['user_id', 'secret', 'backup_codes'])
    .execute();
}

/** The key id as a number, as the library requires. */
function versionOf({ id }: Secret): number {
  return Number.parseInt(id, 16);
}

function isEncryptedUnder(secret: Secret, encrypted: string): boolean {
  return encrypted.startsWith(`$ba$${versionOf(secret)}$`);
}

/** Returns a text that no accepted secret decrypts as it is. */
async function reencrypted(encrypted: string, secrets: Secrets): Promise<string> {
  const { symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto');
  const keys = new Map(librarySecrets(secrets).map(({ version, value }) => [version, value]));
  const key = { keys, currentVersion: versionOf(secrets[0]) };
  const plain = await symmetricDecrypt({ key, data: encrypted }).catch(() => null);
  return plain === null ? encrypted : symmetricEncrypt({ key, data: plain });
}
