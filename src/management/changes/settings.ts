// Changes the settings that are saved in the database: providers, models, aliases, prices and the
// search. Each change is a new version, and its audit row is in the same transaction.
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import { formatPath, type FieldPath } from '../../config/config-error.ts';
import {
  changeSettings,
  liveSections,
  savedFieldsIn,
  type SavedSettings,
  type SettingsChange,
} from '../../config/saved-settings.ts';
import type { Config } from '../../config/schema.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import {
  insertVersion,
  readSettings,
  sealVersion,
  type SettingsVersion,
} from '../../domain/settings/settings-versions.ts';
import type { Database } from '../../db/database.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { isProblem, type LiveSettings } from '../../config/live-settings.ts';

export type SettingsParts = {
  readonly database: Pick<Database, 'read'>;
  readonly secrets: Secrets;
  readonly settings: LiveSettings;
  /** Whoever has a shell on the machine can read the credentials in any case. */
  readonly fromShell?: true;
  /** Runs before a change is saved, once all of it is found to be right. */
  readonly confirm?: () => Promise<void>;
};

/** Settings as they would be after some changes. */
type Draft = {
  readonly before: SettingsVersion;
  readonly after: SavedSettings;
  readonly config: Config;
};

/** Credentials and a few hundred models fit many times. */
const settingsBytesMax = 512 * 1024;

/** Throws ApiError 400 that names the field, and 409 when `version` is not the newest. */
export async function draftSettings(
  { database, secrets, settings, fromShell }: SettingsParts,
  { changes, version }: { readonly changes: readonly SettingsChange[]; readonly version?: number },
): Promise<Draft> {
  const before = (await readSettings(database.read, secrets))!;
  if (version !== undefined && version !== before.version) throw overtaken(before.version);
  for (const { path, value } of changes) {
    checkSection(path);
    if (path[0] === 'providers' && /\$\{\w+\}/.test(JSON.stringify(value) ?? ''))
      throw invalidRequest(
        formatPath(path),
        'Saved settings read no environment variables. Enter the value itself, or set the field in the configuration file.',
      );
  }
  const { locked } = await settings.state();
  for (const { path, value } of changes) {
    const lock = value === undefined ? undefined : locked.find((one) => overlap(one.path, path));
    if (lock)
      throw invalidRequest(
        formatPath(path),
        `\`${formatPath(lock.path)}\` is set by ${lock.by}, which goes before saved settings. Change or remove it there.`,
      );
  }
  const after = changeSettings(before.settings, changes);
  const config = await resolve(settings, after);
  // A command must be able to mend settings that no longer fit the file.
  if (!fromShell) {
    const old = await resolve(settings, before.settings);
    checkKeysStay({ settings: before.settings, config: old }, { settings: after, config });
  }
  return { before, after, config };
}

type Change = {
  readonly changes: readonly SettingsChange[];
  /** The version that the caller has seen. */
  readonly version: number;
  readonly note: string;
};

/** Running gateways follow within two seconds; this one before the promise resolves. */
export async function changeSavedSettings(
  audited: AuditedChanges,
  parts: SettingsParts,
  { changes, version, note }: Change,
): Promise<void> {
  const { before, after } = await draftSettings(parts, { changes, version });
  await save(audited, parts, { before, after, note });
}

/** Saves an earlier version's settings as the newest. Throws ApiError 400, 404 or 409. */
export async function restoreSettings(
  audited: AuditedChanges,
  parts: SettingsParts,
  asked: { readonly restored: number; readonly version: number },
): Promise<void> {
  const { database, secrets, settings } = parts;
  const before = (await readSettings(database.read, secrets))!;
  if (asked.version !== before.version) throw overtaken(before.version);
  const earlier = await readSettings(database.read, secrets, asked.restored);
  if (!earlier) throw noSuch('version of the settings');
  await resolve(settings, earlier.settings);
  const note = `as in version ${asked.restored}`;
  await save(audited, parts, { before, after: earlier.settings, note });
}

/** Has every gateway read its configuration file again. */
export async function reloadFile(audited: AuditedChanges, parts: SettingsParts): Promise<void> {
  const before = (await readSettings(parts.database.read, parts.secrets))!;
  const note = 'the file was read again';
  await save(audited, parts, { before, after: before.settings, note, rereadsFile: true });
}

type Saved = {
  readonly before: SettingsVersion;
  readonly after: SavedSettings;
  readonly note: string;
  readonly rereadsFile?: boolean;
};

async function save(
  audited: AuditedChanges,
  { secrets, settings, confirm }: SettingsParts,
  { before, after, note, rereadsFile = false }: Saved,
): Promise<void> {
  if (Buffer.byteLength(JSON.stringify(after)) > settingsBytesMax)
    throw invalidRequest('changes', `The settings must fit in ${settingsBytesMax} bytes.`);
  await confirm?.();
  const fields = changedFields(flatSettings(before.settings), flatSettings(after));
  if (!fields && !rereadsFile) return;
  const version = before.version + 1;
  const author = audited.actorName;
  const row = await sealVersion(secrets, { version, settings: after, author, note, rereadsFile });
  await audited.commit(async (database) => {
    if (!(await insertVersion(database.write, row, audited.clock.nowMs())))
      throw overtaken(version);
    const { before: old, after: now } = fields ?? { before: {}, after: {} };
    const change = {
      action: rereadsFile ? 'settings.reload' : 'settings.update',
      subject: String(version),
      accountId: null,
      before: old,
      after: now,
    } as const;
    return { change };
  });
  await settings.apply();
}

/** The fields by their paths; of credentials, only their ends. */
export function flatSettings(settings: SavedSettings): Record<string, unknown> {
  return Object.fromEntries(
    savedFieldsIn(settings).map((path) => [
      formatPath(path),
      isCredential(path) ? hidden(String(valueAt(settings, path))) : valueAt(settings, path),
    ]),
  );
}

/** The last four characters tell an operator which credential it is. */
function hidden(credential: string): string {
  return credential.length < 12 ? '…' : `…${credential.slice(-4)}`;
}

export function isCredential(path: FieldPath): boolean {
  return path[0] === 'providers' && path[2] === 'api_key';
}

/** The settings without credentials, and the paths of those. */
export function withoutCredentials(settings: SavedSettings) {
  const secrets = savedFieldsIn(settings).filter(isCredential) as string[][];
  return {
    settings: changeSettings(
      settings,
      secrets.map((path) => ({ path })),
    ),
    secrets: secrets.map((path) => ({ path, hint: hidden(String(valueAt(settings, path))) })),
  };
}

function valueAt(settings: SavedSettings, path: FieldPath): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], settings);
}

function checkSection([section, name]: readonly string[]): void {
  if ((liveSections as readonly (string | undefined)[]).includes(section) && name !== undefined)
    return;
  throw invalidRequest(
    'changes',
    `A change's \`path\` must begin with one of ${liveSections.join(', ')} and name something in it; got ${JSON.stringify([section, name])}. Other settings are in the file only.`,
  );
}

/** One path is the other, or in it. */
function overlap(one: FieldPath, other: FieldPath): boolean {
  return one
    .slice(0, other.length)
    .every((name, index) => index >= other.length || name === other[index]);
}

/**
 * A stored credential goes only where it went before. Otherwise whoever may change settings could
 * read it, by naming an address of his own.
 */
function checkKeysStay(
  { settings: before, config: old }: { readonly settings: SavedSettings; readonly config: Config },
  { settings: after, config: now }: { readonly settings: SavedSettings; readonly config: Config },
): void {
  for (const [name, entry] of Object.entries(after.providers ?? {})) {
    const [was, is] = [keyIn(before.providers?.[name]), keyIn(entry)];
    if (was === undefined || was !== is) continue;
    const moved = (['base_url', 'kind'] as const).find(
      (field) => old.providers[name]?.[field] !== now.providers[name]?.[field],
    );
    if (moved)
      throw invalidRequest(
        formatPath(['providers', name, 'api_key']),
        `Another \`${moved}\` needs the key anew: a stored key is sent only where it was sent before. Send \`${formatPath(['providers', name, 'api_key'])}\` with it.`,
      );
  }
}

function keyIn(entry: unknown): unknown {
  return ((entry ?? {}) as Readonly<Record<string, unknown>>)['api_key'];
}

async function resolve(settings: LiveSettings, saved: SavedSettings): Promise<Config> {
  const resolved = await settings.resolve(saved);
  if (isProblem(resolved)) throw invalidRequest(resolved.field, resolved.message);
  return resolved;
}

function overtaken(newest: number): ApiError {
  return new ApiError(
    'conflict',
    `The settings have changed meanwhile: the newest version is ${newest}. Read them again and repeat the change.`,
  );
}
