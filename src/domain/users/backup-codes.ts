// Backup codes of the second factor, in the sign-in library's format: five characters, a dash, five
// more. Only digests are stored.
import { createHmac, randomInt } from 'node:crypto';
import type { Db } from '../../db/schema.ts';
import { deriveKey, type Secret, type Secrets } from '../../lib/secrets.ts';

const count = 10;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Never matches a digest, which is longer. */
const codePattern = /^\w{5}-\w{5}$/;

/**
 * The stored digest of a code. It is keyed, because a code has only 59 random bits, and carries the
 * key id of its secret.
 */
function backupCodeDigest(secret: Secret, code: string): string {
  const hmac = createHmac('sha256', deriveKey(secret, 'backup codes')).update(code.trim());
  return withKeyId(secret, hmac.digest('base64url'));
}

/** Returns the stored digest that matches the code under any of the secrets, or null. */
export function findBackupCode(
  secrets: Secrets,
  code: string,
  stored: readonly string[],
): string | null {
  const digests = secrets.map((secret) => backupCodeDigest(secret, code));
  return digests.find((digest) => stored.includes(digest)) ?? null;
}

export function isDigestUnder(secret: Secret, digest: string): boolean {
  return digest.startsWith(withKeyId(secret, ''));
}

function withKeyId({ id }: Secret, digest: string): string {
  return `${id}.${digest}`;
}

/** Replaces each code of a JSON list by its digest; digests in it stay as they are. */
export function digestBackupCodes(secret: Secret, json: string): string {
  const codes = JSON.parse(json) as string[];
  return JSON.stringify(
    codes.map((code) => (codePattern.test(code) ? backupCodeDigest(secret, code) : code)),
  );
}

/**
 * Replaces the backup codes; the earlier ones stop working. Returns null when the user has no
 * second factor.
 */
export async function replaceBackupCodes(
  transaction: Db,
  secret: Secret,
  userId: string,
): Promise<readonly string[] | null> {
  const codes = Array.from({ length: count }, () => `${randomText()}-${randomText()}`);
  const [result] = await transaction
    .updateTable('user_two_factors')
    .set({ backup_codes: digestBackupCodes(secret, JSON.stringify(codes)) })
    .where('user_id', '=', userId)
    .execute();
  return result!.numUpdatedRows === 0n ? null : codes;
}

export async function readBackupCodes(db: Db, userId: string): Promise<readonly string[]> {
  const row = await db
    .selectFrom('user_two_factors')
    .select('backup_codes')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ? (JSON.parse(row.backup_codes) as string[]) : [];
}

function randomText(): string {
  return Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
