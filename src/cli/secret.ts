// `tollgate secret …`: replaces the installation's secret. A running gateway goes on with what it read at its start.
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { addSecret, loadSecrets, newSecretText, removeSecrets, secretFileOf } from '../config/secret.ts';
import { explainDatabaseError, isPostgresUrl, openDatabase, type Database } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import { findKeysUnderOtherSecrets, forgetSecretsBut, readNotedSecrets, takeUpSecrets } from '../keys/needed-secrets.ts';
import { systemClock } from '../lib/clock.ts';
import { createSecret, type Secrets } from '../lib/secrets.ts';
import { countSecondFactorsUnderOthers } from '../users/second-factor-secrets.ts';
import { changesBy } from './audit.ts';
import { CommandFailed, printResult, type JsonOption } from './output.ts';

type Place = {
  readonly config: Config;
  readonly database: Database;
  readonly secrets: Secrets;
  /** null: the environment gives the secret. */
  readonly file: string | null;
};

/** Sessions, cached answers and the replays of an Idempotency-Key end by themselves within this. */
const shortLivedMs = 7 * 24 * 60 * 60_000;

export async function rotateSecretCommand(options: JsonOption): Promise<void> {
  await withSecrets(async ({ database, secrets, file }) => {
    const [{ id: before }] = secrets;
    if (file === null) return printResult(options, { rotated: false, current: before }, howInTheEnvironment(before));
    // Books that no gateway of this version has served yet do not know what they need.
    await takeUpSecrets(database, secrets, systemClock.nowMs());
    const made = newSecretText();
    const { id: after } = createSecret(made);
    await transact(database, async (write) => {
      await changesBy('secret rotate', database).note({ write }, changeOf('secret.rotate', before, after));
      // Last, since nothing undoes it.
      addSecret(file, made);
    });
    printResult(
      options,
      { rotated: true, current: after, previous: before },
      [
        `The new secret has the key id ${after}. The one before (${before}) stays in ${file} and is accepted.`,
        'Now restart the gateway: until then it goes on with the one before, and does not know keys that commands make.',
        'Copy the file to where you keep it beside your backups. "tollgate secret status" says when the one before can end.',
      ].join('\n'),
    );
  });
}

export async function secretStatusCommand(options: JsonOption): Promise<void> {
  await withSecrets(async (place) => {
    const status = await readStatus(place);
    printResult(options, status, describe(status));
  });
}

export async function retireSecretCommand(options: JsonOption & { force?: true }): Promise<void> {
  await withSecrets(async (place) => {
    const { database, file } = place;
    const status = await readStatus(place);
    const { current } = status;
    const losses = lossesOf(status);
    if (status.ending.length === 0) return printResult(options, { retired: [], current }, describe(status));
    if (losses.length > 0 && !options.force) {
      throw new CommandFailed(`${status.ending.join(', ')} cannot end yet: ${losses.join('; ')}. --force ends it all the same`);
    }
    await changesBy('secret retire', database).commit(async ({ write }) => {
      await forgetSecretsBut(write, current);
      return { result: null, change: changeOf('secret.retire', status.ending.join(', '), current) };
    });
    // Afterwards, since books that need a secret are not served without it; in a transaction, since a rotation may be at the file as well.
    if (file !== null) await transact(database, async () => removeSecrets(file, status.ending));
    const what = `Ended: ${status.ending.join(', ')}. `;
    const rest = file === null ? 'Remove TOLLGATE_SECRETS_ACCEPTED, and restart the gateways.' : 'Restart the gateway.';
    const lost = losses.length === 0 ? '' : `\nThis stops to work: ${losses.join('; ')}.`;
    printResult(options, { retired: status.ending, current, lost: losses }, what + rest + lost);
  });
}

type Status = {
  /** Key ids. */
  readonly current: string;
  readonly accepted: readonly string[];
  /** The books need them, and they are not given. */
  readonly missing: readonly string[];
  /** The key ids of the secrets that `secret retire` removes. */
  readonly ending: readonly string[];
  /** Whether the gateway that started last used the current secret. */
  readonly in_use: boolean;
  /** Ids of the keys that are not digested under the current one. */
  readonly keys: readonly string[];
  readonly authenticator_apps: number;
  readonly users_with_backup_codes: number;
  /** Sessions, replays and links to images that were made before have run out by then; null: no gateway uses the current one. */
  readonly short_lived_until: string | null;
  readonly can_retire: boolean;
};

async function readStatus({ config, database, secrets, file }: Place): Promise<Status> {
  const [current, ...accepted] = secrets;
  const given = secrets.map(({ id }) => id);
  const noted = await readNotedSecrets(database.read);
  const notedIds = noted.map(({ id }) => id);
  const [newest] = noted;
  // An accepted secret that the books do not know may be the next current one.
  const others = file === null ? notedIds : [...notedIds, ...given];
  const isInUse = newest?.id === current.id;
  const { apps, backupCodes } = await countSecondFactorsUnderOthers(database, current);
  const keptMs = Math.max(shortLivedMs, config.storage.keep_days * 24 * 60 * 60_000);
  const status = {
    current: current.id,
    accepted: accepted.map(({ id }) => id),
    missing: notedIds.filter((id) => !given.includes(id)),
    ending: [...new Set(others)].filter((id) => id !== current.id),
    in_use: isInUse,
    keys: await findKeysUnderOtherSecrets(database, current.id),
    authenticator_apps: apps,
    users_with_backup_codes: backupCodes,
    short_lived_until: isInUse ? new Date(newest.currentSinceMs + keptMs).toISOString() : null,
  };
  return { ...status, can_retire: status.ending.length > 0 && lossesOf(status).length === 0 };
}

/** What stops working when every secret but the current one is removed. */
function lossesOf(status: Omit<Status, 'can_retire'>): string[] {
  const { keys, authenticator_apps: apps, users_with_backup_codes: users, short_lived_until: until } = status;
  const shown = keys.slice(0, 10).join(', ') + (keys.length > 10 ? ', …' : '');
  return [
    ...(status.in_use ? [] : [`no gateway has started with ${status.current} yet`]),
    ...(keys.length === 0 ? [] : [`${keys.length} API keys were not used since the rotation (${shown})`]),
    ...(apps === 0 ? [] : [`authenticator apps of ${apps} users are not under the current secret`]),
    ...(users === 0 ? [] : [`${users} users have backup codes from before the rotation`]),
    ...(until === null || Date.parse(until) <= systemClock.nowMs()
      ? []
      : [`sessions, replays and links to images from before the rotation work until ${until}`]),
  ];
}

function describe(status: Status): string {
  const { current, accepted, missing, ending } = status;
  const losses = lossesOf(status);
  return [
    `Current secret: ${current}${status.in_use ? '' : ' (no gateway has started with it yet)'}`,
    ...(accepted.length === 0 ? [] : [`Accepted beside it: ${accepted.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`Needed by these books and not given: ${missing.join(', ')}`]),
    ...(ending.length === 0 ? ['No other secret is needed.'] : endingLines(ending, losses)),
  ].join('\n');
}

function endingLines(ending: readonly string[], losses: readonly string[]): string[] {
  const names = ending.join(', ');
  if (losses.length === 0) return [`Nothing needs ${names} any more: "tollgate secret retire" ends it.`];
  return [`Needed still: ${names}`, ...losses.map((loss) => `  - ${loss}`)];
}

function changeOf(action: string, before: string, after: string) {
  return { action, subject: 'secret', accountId: null, before: { key_id: before }, after: { key_id: after } };
}

function howInTheEnvironment(current: string): string {
  return [
    `TOLLGATE_SECRET (key id ${current}) is set where the gateways are started, so it is changed there:`,
    '1. Make a new one: openssl rand -hex 32',
    '2. Set TOLLGATE_SECRETS_ACCEPTED to the new one, and restart each gateway, so that all of them know it.',
    '3. Set TOLLGATE_SECRET to the new one and TOLLGATE_SECRETS_ACCEPTED to the one before, and restart each gateway.',
    '4. When "tollgate secret status" says that nothing needs the one before: "tollgate secret retire", remove',
    '   TOLLGATE_SECRETS_ACCEPTED, and restart each gateway.',
    'A gateway that is alone can leave out step 2.',
  ].join('\n');
}

/** Unlike other commands also where a secret that the books need is missing. */
async function withSecrets(action: (place: Place) => Promise<void>): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const secrets = loadSecrets(process.env, config.dataDir, { isShared: isPostgresUrl(config.database.url) });
  const database = openDatabase(config.database.url, { isPatient: true });
  try {
    await database.migrate();
    await action({ config, database, secrets, file: secretFileOf(process.env, config.dataDir) });
  } catch (error) {
    throw explainDatabaseError(error, config.database.url);
  } finally {
    await database.close();
  }
}
