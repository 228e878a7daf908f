// Replaces the installation's secret and removes old ones.
import { addSecret, newSecretText, removeSecrets } from '../../config/secret.ts';
import type { Database } from '../../db/database.ts';
import { sealedEndpoints } from '../../domain/alerts/endpoints.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { forgetOtherSecrets, registerSecrets } from '../../domain/keys/needed-secrets.ts';
import { sealedOwnKeys } from '../../domain/keys/own-keys.ts';
import { forgetOtherSettings, sealedSettings } from '../../domain/settings/settings-versions.ts';
import { sealedHeaders } from '../../domain/telemetry/accounts/headers.ts';
import { renewSecondFactors } from '../../domain/users/second-factor-secrets.ts';
import { transact } from '../../db/transact.ts';
import { createSecret, type Secrets } from '../../lib/secrets.ts';

/** Adds a new secret to the file as the current one. Returns its key id. */
export async function rotateSecret(
  changes: AuditedChanges,
  { secrets, file }: { readonly secrets: Secrets; readonly file: string },
): Promise<string> {
  const { unrecorded: database, clock } = changes;
  // A database that no gateway of this version has served does not yet list the secrets it needs.
  await registerSecrets(database, secrets, clock.nowMs());
  const made = newSecretText();
  const { id } = createSecret(made);
  await transact(database.write, async (write) => {
    await changes.note({ write }, changeOf('secret.rotate', secrets[0].id, id));
    // Last, because it cannot be undone.
    addSecret(file, made);
  });
  return id;
}

/** Encrypts under the current secret what is under an earlier accepted one. Others stay as they are. */
export async function encryptAnew(database: Database, secrets: Secrets): Promise<void> {
  await renewSecondFactors(database, secrets);
  for (const rows of [sealedHeaders, sealedEndpoints, sealedSettings, sealedOwnKeys])
    await rows.renew(database, secrets);
}

type Retirement = {
  /** Key ids of the secrets to remove. */
  readonly ending: readonly string[];
  readonly current: string;
  /** null: the environment provides the secrets. */
  readonly file: string | null;
};

/**
 * Removes all secrets but the current one, first from the list that the database needs, then from
 * the file. Settings that are still under another one are removed: no gateway could start with them.
 */
export async function retireSecrets(
  changes: AuditedChanges,
  { ending, current, file }: Retirement,
): Promise<void> {
  await changes.commit(async ({ write }) => {
    await forgetOtherSecrets(write, current);
    await forgetOtherSettings(write, current);
    return { change: changeOf('secret.retire', ending.join(', '), current) };
  });
  // Last, because no gateway serves a database without the secrets it needs. In a transaction,
  // because a rotation may write the file at the same time.
  if (file !== null)
    await transact(changes.unrecorded.write, async () => removeSecrets(file, ending));
}

function changeOf(action: 'secret.rotate' | 'secret.retire', before: string, after: string) {
  return {
    action,
    subject: 'secret',
    accountId: null,
    before: { key_id: before },
    after: { key_id: after },
  };
}
