// `tollgate secret …`: replaces the installation's secret. A running gateway keeps the secrets that
// it read at its start.
import type { Config } from '../config/schema.ts';
import { secretFileOf } from '../config/secret.ts';
import { findKeysUnderOtherSecrets, readRegisteredSecrets } from '../domain/keys/needed-secrets.ts';
import { sealedOwnKeys } from '../domain/keys/own-keys.ts';
import { sealedEndpoints } from '../domain/alerts/endpoints.ts';
import { sealedHeaders } from '../domain/telemetry/accounts/headers.ts';
import { sealedSettings } from '../domain/settings/settings-versions.ts';
import { systemClock } from '../lib/clock.ts';
import { countSecondFactorsUnderOthers } from '../domain/users/second-factor-secrets.ts';
import { encryptAnew, retireSecrets, rotateSecret } from '../management/changes/secrets.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, type Output } from './output.ts';

/** Sessions, cached answers and replays of an Idempotency-Key expire within this time. */
const shortLivedMs = 7 * 24 * 60 * 60_000;

export async function rotateSecretCommand({
  config,
  changes,
  secrets,
}: Installation): Promise<Output> {
  const [{ id: before }] = secrets;
  const file = fileOf(config);
  if (file === null) return [{ rotated: false, current: before }, environmentInstructions(before)];
  const after = await rotateSecret(changes, { secrets, file });
  return [
    { rotated: true, current: after, previous: before },
    [
      `The new secret has the key id ${after}. The previous secret (${before}) stays in ${file} and is still accepted.`,
      'Restart the gateway now. Until then it uses the previous secret and refuses keys that commands create.',
      'Copy the file to where you store it for your backups. "tollgate secret status" says when the previous secret can be retired.',
    ].join('\n'),
  ];
}

export async function secretStatusCommand(installation: Installation): Promise<Output> {
  const status = await readStatus(installation);
  return [status, describe(status)];
}

export async function retireSecretCommand(
  installation: Installation,
  { force }: { readonly force?: true },
): Promise<Output> {
  const { changes, config, database, secrets } = installation;
  const file = fileOf(config);
  const status = await readStatus(installation);
  const { current } = status;
  const risks = lossesOf(status);
  if (status.ending.length === 0) return [{ retired: [], current, lost: [] }, describe(status)];
  if (risks.length > 0 && !force) {
    throw new CommandFailed(
      `${status.ending.join(', ')} cannot be retired yet: ${risks.join('; ')}. --force retires it anyway`,
    );
  }
  await encryptAnew(database, secrets);
  const losses = lossesOf(await readStatus(installation));
  await retireSecrets(changes, { ending: status.ending, current, file });
  const what = `Retired: ${status.ending.join(', ')}. `;
  const rest =
    file === null
      ? 'Remove TOLLGATE_SECRETS_ACCEPTED, and restart the gateways.'
      : 'Restart the gateway.';
  const lost = losses.length === 0 ? '' : `\nNo longer working: ${losses.join('; ')}.`;
  return [{ retired: status.ending, current, lost: losses }, what + rest + lost];
}

/** Returns null when the environment provides the secret. */
function fileOf({ dataDir }: Config): string | null {
  return secretFileOf(process.env, dataDir);
}

type Needed = Awaited<ReturnType<typeof readNeeded>>;
type Status = Needed & { readonly can_retire: boolean };

async function readStatus(installation: Installation): Promise<Status> {
  const needed = await readNeeded(installation);
  return { ...needed, can_retire: needed.ending.length > 0 && lossesOf(needed).length === 0 };
}

async function readNeeded({ config, database, secrets }: Installation) {
  const [current, ...accepted] = secrets;
  const given = secrets.map(({ id }) => id);
  const noted = await readRegisteredSecrets(database.read);
  const notedIds = noted.map(({ id }) => id);
  const [newest] = noted;
  // When the environment provides the secrets, an accepted secret that the database does not know
  // may be the next current one.
  const others = fileOf(config) === null ? notedIds : [...notedIds, ...given];
  const isInUse = newest?.id === current.id;
  const { apps, backupCodes } = await countSecondFactorsUnderOthers(database.read, current);
  const keptDays = Math.max(config.storage.keep_days, config.bodies.days_max);
  const keptMs = Math.max(shortLivedMs, keptDays * 24 * 60 * 60_000);
  return {
    current: current.id,
    accepted: accepted.map(({ id }) => id),
    // Key ids of secrets that the database needs and that were not provided.
    missing: notedIds.filter((id) => !given.includes(id)),
    // Key ids of the secrets that `secret retire` removes.
    ending: [...new Set(others)].filter((id) => id !== current.id),
    // True when the gateway that started last used the current secret.
    in_use: isInUse,
    keys: await findKeysUnderOtherSecrets(database.read, current.id, systemClock.nowMs()),
    authenticator_apps: apps,
    users_with_backup_codes: backupCodes,
    telemetry_accounts: await sealedHeaders.underOthers(database, current),
    alert_endpoints: await sealedEndpoints.underOthers(database, current),
    own_keys: await sealedOwnKeys.underOthers(database, current),
    settings_versions: (await sealedSettings.underOthers(database, current)).map(Number),
    // When the last session, replay, kept body and image link from before the rotation expires; null: no
    // gateway uses the current secret yet.
    short_lived_until: isInUse ? new Date(newest.currentSinceMs + keptMs).toISOString() : null,
  };
}

/** Describes what stops working when every secret but the current one is removed. */
function lossesOf(status: Needed): string[] {
  const { keys, authenticator_apps: apps, users_with_backup_codes: users } = status;
  const { short_lived_until: until } = status;
  const shown = keys.slice(0, 10).join(', ') + (keys.length > 10 ? ', …' : '');
  const losses: readonly (readonly [isLost: boolean, what: string])[] = [
    [!status.in_use, `no gateway has started with ${status.current} yet`],
    [keys.length > 0, `${keys.length} API keys were not used since the rotation (${shown})`],
    [apps > 0, `authenticator apps of ${apps} users are not under the current secret`],
    [users > 0, `${users} users have backup codes from before the rotation`],
    elsewhere(status.telemetry_accounts, (count) => `keys for the traces of ${count} accounts`),
    elsewhere(status.alert_endpoints, (count) => `${count} endpoints of alerts`),
    elsewhere(status.own_keys, (count) => `${count} own keys of accounts`),
    elsewhere(status.settings_versions, (count) => `saved settings of ${count} versions`),
    [
      until !== null && Date.parse(until) > systemClock.nowMs(),
      `sessions, replays, kept bodies and links to images from before the rotation work until ${until}`,
    ],
  ];
  return losses.filter(([isLost]) => isLost).map(([, what]) => what);
}

function elsewhere({ length }: readonly unknown[], named: (count: number) => string) {
  return [length > 0, `${named(length)} are not under the current secret`] as const;
}

function describe(status: Status): string {
  const { current, accepted, missing, ending } = status;
  const losses = lossesOf(status);
  return [
    `Current secret: ${current}${status.in_use ? '' : ' (no gateway has started with it yet)'}`,
    ...(accepted.length === 0 ? [] : [`Also accepted: ${accepted.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`Needed by the database but missing: ${missing.join(', ')}`]),
    ...(ending.length === 0 ? ['No other secret is needed.'] : endingLines(ending, losses)),
  ].join('\n');
}

function endingLines(ending: readonly string[], losses: readonly string[]): string[] {
  const names = ending.join(', ');
  if (losses.length === 0)
    return [`Nothing needs ${names} any more. "tollgate secret retire" removes it.`];
  return [`Still needed: ${names}`, ...losses.map((loss) => `  - ${loss}`)];
}

function environmentInstructions(current: string): string {
  return [
    `TOLLGATE_SECRET (key id ${current}) comes from the environment of the gateways. Change it there:`,
    '1. Create a new secret: openssl rand -hex 32',
    '2. Set TOLLGATE_SECRETS_ACCEPTED to the new secret and restart each gateway, so that all of them accept it.',
    '3. Set TOLLGATE_SECRET to the new secret and TOLLGATE_SECRETS_ACCEPTED to the old one, and restart each gateway.',
    '4. When "tollgate secret status" says that nothing needs the old secret, run "tollgate secret retire", remove',
    '   TOLLGATE_SECRETS_ACCEPTED and restart each gateway.',
    'With a single gateway, skip step 2.',
  ].join('\n');
}
