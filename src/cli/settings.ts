// `tollgate settings …`, `tollgate reload`, `tollgate config export`: what operators save in the
// database. Running gateways follow within two seconds.
import { text as textOf } from 'node:stream/consumers';
import { openConfig } from '../config/load.ts';
import { parsePath } from '../config/config-error.ts';
import { liveSections } from '../config/saved-settings.ts';
import { listSettings, readSettings } from '../domain/settings/settings-versions.ts';
import {
  changeSavedSettings,
  flatSettings,
  isCredential,
  reloadFile,
  restoreSettings,
  type SettingsParts,
} from '../management/changes/settings.ts';
import { parsedOr } from '../lib/json.ts';
import { exportSettings } from '../management/changes/export-settings.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, formatTable, tableOf, type Output } from './output.ts';

export async function showSettingsCommand(installation: Installation): Promise<Output> {
  const { version, settings } = await newest(installation);
  const fields = flatSettings(settings);
  const { locked } = await installation.settings.state();
  const rows = Object.entries(fields).map(([path, value]) => [path, JSON.stringify(value)]);
  return [
    { version, fields, locked },
    rows.length === 0
      ? 'Nothing is saved: the configuration file and the environment decide everything.'
      : `${formatTable(['FIELD', 'VALUE'], rows)}\n\nVersion ${version}.`,
  ];
}

export async function setSettingCommand(
  installation: Installation,
  field: string,
  written: string,
): Promise<Output> {
  const text = written === '-' ? (await textOf(process.stdin)).trim() : written;
  const value = isCredential(parsePath(field)) ? text : parsedOr(text, text);
  return change(installation, field, { value });
}

export function unsetSettingCommand(installation: Installation, field: string): Promise<Output> {
  return change(installation, field, {});
}

export async function listVersionsCommand({ database }: Installation): Promise<Output> {
  const versions = await listSettings(database.read);
  const table = tableOf(versions, {
    VERSION: ({ version }) => String(version),
    SAVED: ({ created_at_ms: atMs }) => new Date(atMs).toISOString(),
    BY: ({ author }) => author,
    CHANGED: ({ note }) => note,
  });
  return [versions, table];
}

export async function restoreSettingsCommand(
  installation: Installation,
  restored: number,
): Promise<Output> {
  const { version } = await newest(installation);
  await restoreSettings(installation.changes, partsOf(installation), { restored, version });
  return [
    { version: version + 1, restored },
    `The settings are as in version ${restored} again, as version ${version + 1}.`,
  ];
}

export async function reloadCommand(installation: Installation): Promise<Output> {
  await reloadFile(installation.changes, partsOf(installation));
  return [
    { reloaded: true },
    'Every gateway reads its configuration file again, within two seconds. One that cannot use it goes on as before, and its log says why.',
  ];
}

export async function exportSettingsCommand(installation: Installation): Promise<Output> {
  const { settings } = await newest(installation);
  const { written } = openConfig({ env: process.env, cwd: process.cwd() });
  const yaml = exportSettings(settings, written());
  return [{ yaml }, yaml.trimEnd()];
}

async function change(
  installation: Installation,
  field: string,
  value: { readonly value?: unknown },
): Promise<Output> {
  const path = parsePath(field).map(String);
  if (path.length < 2 || !(liveSections as readonly string[]).includes(path[0]!))
    throw new CommandFailed(
      `a field must begin with one of ${liveSections.join(', ')}, such as providers.openai.api_key or models["gpt-6-luna"].prices; got ${JSON.stringify(field)}`,
    );
  const { version } = await newest(installation);
  const asked = { changes: [{ path, ...value }], version, note: field };
  await changeSavedSettings(installation.changes, partsOf(installation), asked);
  const { version: saved } = await newest(installation);
  return [
    { version: saved },
    saved === version
      ? 'Nothing changed.'
      : `Saved as version ${saved}. Running gateways use it within two seconds.`,
  ];
}

async function newest({ database, secrets }: Installation) {
  return (await readSettings(database.read, secrets))!;
}

function partsOf({ database, secrets, settings }: Installation): SettingsParts {
  return { database, secrets, settings, fromShell: true };
}
