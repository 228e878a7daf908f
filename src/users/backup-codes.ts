// Backup codes of the second factor, as the sign-in library makes them: five characters, a dash, five more. Only digests are kept.
import { createHmac, randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { deriveKey, type Secret, type Secrets } from '../lib/secrets.ts';

const count = 10;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** A digest is longer. */
const codePattern = /^\w{5}-\w{5}$/;

/** The digest under which a code is kept: keyed, since a code has no more than 59 random bits, and with the key id of its secret. */
function backupCodeDigest(secret: Secret, code: string): string {
  return idBefore(secret, bareDigest(secret, code));
}

/** The digest of a code that is among those kept; null: under none of the secrets. */
export function findBackupCode(secrets: Secrets, code: string, kept: readonly string[]): string | null {
  const digests = secrets.flatMap((secret) => [backupCodeDigest(secret, code), bareDigest(secret, code)]);
  return digests.find((digest) => kept.includes(digest)) ?? null;
}

/** As it was kept before there were key ids. */
function bareDigest(secret: Secret, code: string): string {
  return createHmac('sha256', deriveKey(secret, 'backup codes')).update(code.trim()).digest('base64url');
}

export function isDigestUnder(secret: Secret, digest: string): boolean {
  return digest.startsWith(idBefore(secret, ''));
}

/** Of before there were key ids: all were made under one secret, which is this one. */
export function withSecretIds(json: string, secret: Secret): string {
  const digests = JSON.parse(json) as string[];
  return JSON.stringify(digests.map((digest) => (digest.includes('.') ? digest : idBefore(secret, digest))));
}

function idBefore({ id }: Secret, digest: string): string {
  return `${id}.${digest}`;
}

/** A JSON list of codes and digests, with each code made its digest. */
export function digestBackupCodes(secret: Secret, json: string): string {
  const codes = JSON.parse(json) as string[];
  return JSON.stringify(codes.map((code) => (codePattern.test(code) ? backupCodeDigest(secret, code) : code)));
}

/** Those there were do not work any more. null: the user has no second factor. */
export async function replaceBackupCodes(
  transaction: Kysely<Tables>,
  secret: Secret,
  userId: string,
): Promise<readonly string[] | null> {
  const codes = Array.from({ length: count }, () => `${randomText(5)}-${randomText(5)}`);
  const [result] = await transaction
    .updateTable('user_two_factors')
    .set({ backup_codes: digestBackupCodes(secret, JSON.stringify(codes)) })
    .where('user_id', '=', userId)
    .execute();
  return result!.numUpdatedRows === 0n ? null : codes;
}

export async function readBackupCodes(db: Kysely<Tables>, userId: string): Promise<readonly string[]> {
  const row = await db.selectFrom('user_two_factors').select('backup_codes').where('user_id', '=', userId).executeTakeFirst();
  return row ? (JSON.parse(row.backup_codes) as string[]) : [];
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
