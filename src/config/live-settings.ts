// Settings that change while the gateway runs, as its parts see them.
import type { LockedField } from './load.ts';
import type { SavedSettings } from './saved-settings.ts';
import type { Config } from './schema.ts';

export type LiveSettings = {
  /** Returns the configuration with settings that are not saved yet, or what is wrong with them. */
  readonly resolve: (settings: SavedSettings) => Promise<Config | SettingsProblem>;
  /** Resolves when all HTTP threads of the process use what is saved, or it was refused. */
  readonly apply: () => Promise<void>;
  readonly state: () => Promise<SettingsState>;
};

/** `message`: whole sentences that name field and remedy. */
export type SettingsProblem = { readonly field: string; readonly message: string };

export function isProblem(resolved: Config | SettingsProblem): resolved is SettingsProblem {
  return 'message' in resolved;
}

export type SettingsState = {
  /** The saved version that is in force in this process; 0: none. */
  readonly version: number;
  /** Why a newer one, or the file, was refused; null: it was not. */
  readonly problem: string | null;
  readonly locked: readonly LockedField[];
};
