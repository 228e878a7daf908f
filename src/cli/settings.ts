// `tollgate settings …`, `tollgate reload`, `tollgate config export`: what operators save in the
// database. Running gateways follow within two seconds.
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
import { exportSettings } from '../management/changes/export-settings.ts';
import { type Installation, withInstallation } from './installation.ts';
import { CommandFailed, formatTable, printResult, tableOf, type JsonOption } from './output.ts';

export async function showSettingsCommand(options: JsonOption): Promise<void> {
  await withInstallation('settings show', async (installation) => {
    const { version, settings } = await newest(installation);
    const fields = flatSettings(settings);
    const { locked } = await installation.settings.state();
    const rows = Object.entries(fields).map(([path, value]) => [path, JSON.stringify(value)]);
    printResult(
      options,
      { version, fields, locked },
      rows.length === 0
        ? 'Nothing is saved: the configuration file and the environment decide everything.'
        : `${formatTable(['FIELD', 'VALUE'], rows)}\n\nVersion ${version}.`,
    );
  });
}

export async function setSettingCommand(
  field: string,
  written: string,
  options: JsonOption,
): Promise<void> {
  const text = written === '-' ? (await readStandardInput()).trim() : written;
  const value = isCredential(parsePath(field)) ? text : valueOf(text);
  await change('settings set', field, { value }, options);
}

export async function unsetSettingCommand(field: string, options: JsonOption): Promise<void> {
  await change('settings unset', field, {}, options);
}

export async function listVersionsCommand(options: JsonOption): Promise<void> {
  await withInstallation('settings versions', async ({ database }) => {
    const versions = await listSettings(database.read);
    const table = tableOf(versions, {
      VERSION: ({ version }) => String(version),
      SAVED: ({ created_at_ms: atMs }) => new Date(atMs).toISOString(),
      BY: ({ author }) => author,
      CHANGED: ({ note }) => note,
    });
    printResult(options, versions, table);
  });
}

export async function restoreSettingsCommand(restored: number, options: JsonOption): Promise<void> {
  await withInstallation('settings restore', async (installation) => {
    const { version } = await newest(installation);
    const author = installation.changes.actorName;
    await restoreSettings(installation.changes, partsOf(installation), {
      restored,
      version,
      author,
    });
    printResult(
      options,
      { version: version + 1, restored },
      `The settings are as in version ${restored} again, as version ${version + 1}.`,
    );
  });
}

export async function reloadCommand(options: JsonOption): Promise<void> {
  await withInstallation('reload', async (installation) => {
    const { changes } = installation;
    await reloadFile(changes, partsOf(installation), changes.actorName);
    printResult(
      options,
      { reloaded: true },
      'Every gateway reads its configuration file again, within two seconds. One that cannot use it goes on as before, and its log says why.',
    );
  });
}

export async function exportSettingsCommand(options: JsonOption): Promise<void> {
  await withInstallation('config export', async (installation) => {
    const { settings } = await newest(installation);
    const { written } = openConfig({ env: process.env, cwd: process.cwd() });
    const yaml = exportSettings(settings, written());
    printResult(options, { yaml }, yaml.trimEnd());
  });
}

async function change(
  command: string,
  field: string,
  value: { readonly value?: unknown },
  options: JsonOption,
): Promise<void> {
  const path = parsePath(field).map(String);
  if (path.length < 2 || !(liveSections as readonly string[]).includes(path[0]!))
    throw new CommandFailed(
      `a field must begin with one of ${liveSections.join(', ')}, such as providers.openai.api_key or models["gpt-6-luna"].prices; got ${JSON.stringify(field)}`,
    );
  await withInstallation(command, async (installation) => {
    const { version } = await newest(installation);
    const { changes } = installation;
    const asked = { changes: [{ path, ...value }], version, note: field };
    await changeSavedSettings(changes, partsOf(installation), {
      ...asked,
      author: changes.actorName,
    });
    const { version: saved } = await newest(installation);
    printResult(
      options,
      { version: saved },
      saved === version
        ? 'Nothing changed.'
        : `Saved as version ${saved}. Running gateways use it within two seconds.`,
    );
  });
}

async function newest({ database, secrets }: Installation) {
  return (await readSettings(database.read, secrets))!;
}

function partsOf({ database, secrets, settings }: Installation): SettingsParts {
  return { database, secrets, settings, fromShell: true };
}

/** JSON, or else a text as it stands. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
