// Follows the settings that operators save in the database, and applies them to all HTTP threads of
// the process. Every gateway of the database does so within two seconds.
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../config/config-error.ts';
import type { ConfigReader } from '../config/load.ts';
import { liveSections, type SavedSettings } from '../config/saved-settings.ts';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { loadCatalog } from '../domain/catalog/load-catalog.ts';
import { readSettings, readSettingsNumbers } from '../domain/settings/settings-versions.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { LiveSettings, SettingsProblem, SettingsState } from '../config/live-settings.ts';

export type LiveConfigOptions = {
  readonly reader: ConfigReader;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly clock: Clock;
};

/** How often the database is asked for a new version. */
const lookMs = 1_000;

export class LiveConfig {
  readonly #options: LiveConfigOptions;
  #config: Config;
  /** The newest versions that were looked at, in force or refused. */
  #seen = { newest: 0, reread: 0 };
  #version = 0;
  #problem: string | null = null;
  #apply: (config: Config) => Promise<void> = async () => {};
  #stop = () => {};
  #looking: Promise<void> = Promise.resolve();
  /** Trouble with the database is logged once, not every second. */
  #isTroubled = false;

  private constructor(options: LiveConfigOptions, config: Config) {
    this.#options = options;
    this.#config = config;
  }

  /** Throws ConfigError when the saved settings do not fit the file. */
  static async open(options: LiveConfigOptions): Promise<LiveConfig> {
    const { reader, database, secrets } = options;
    const seen = await readSettingsNumbers(database.read);
    const { version, settings } = (await readSettings(database.read, secrets))!;
    const config = readWithSaved(reader, settings, version);
    const live = new LiveConfig(options, config);
    live.#seen = seen;
    live.#version = version;
    return live;
  }

  /** For commands, when the saved settings do not fit or cannot be read. */
  static withoutSaved(options: LiveConfigOptions): LiveConfig {
    return new LiveConfig(options, options.reader.withSaved({}));
  }

  get config(): Config {
    return this.#config;
  }

  /** Follows the database from now on. `apply` resolves when all HTTP threads use the configuration. */
  follow(apply: (config: Config) => Promise<void>): void {
    this.#apply = apply;
    this.#stop = this.#options.clock.every(lookMs, () => void this.look());
  }

  close(): void {
    this.#stop();
  }

  /** Resolves when what is saved now is applied, or refused and logged. */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      const numbers = await readSettingsNumbers(this.#options.database.read);
      if (numbers.newest === this.#seen.newest) return;
      await this.#use({ rereads: numbers.reread > this.#seen.reread });
      this.#seen = numbers;
    });
  }

  /** Reads the file again. */
  reread(): Promise<void> {
    return this.#inTurn(() => this.#use({ rereads: true }));
  }

  /** Returns the configuration with settings that are not saved yet, or what is wrong with them. */
  resolve(settings: SavedSettings): Config | SettingsProblem {
    try {
      const config = this.#options.reader.withSaved(settings);
      loadCatalog(config);
      return withLive(this.#config, config);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { field, problem, remedy } = error.fault;
      return { field, message: `\`${field}\` ${problem}. ${remedy}` };
    }
  }

  state(): SettingsState {
    return {
      version: this.#version,
      problem: this.#problem,
      locked: this.#options.reader.locked(),
    };
  }

  /** Throws when the saved settings cannot be read. */
  async #use({ rereads }: { readonly rereads: boolean }): Promise<void> {
    const { reader, log, database, secrets } = this.#options;
    const { version, settings } = (await readSettings(database.read, secrets))!;
    try {
      const read = rereads ? reader.rereadFile(settings, loadCatalog) : reader.withSaved(settings);
      loadCatalog(read);
      const fixed = fixedFieldsOf(this.#config, read);
      if (fixed.length > 0)
        log.warn({ fields: fixed }, 'these settings change only with a restart of the gateway');
      const config = withLive(this.#config, read);
      await this.#apply(config);
      this.#config = config;
      this.#version = version;
      this.#problem = null;
      log.info({ version }, 'the settings have changed');
    } catch (error) {
      this.#problem = (error as Error).message;
      log.error(
        { err: error, version },
        'the settings are refused; the gateway goes on with those before',
      );
    }
  }

  /** One look at a time: a later version is never overtaken by an earlier one. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#looking = this.#looking.then(() => this.#try(work));
    return this.#looking;
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled)
        this.#options.log.error({ err: error }, 'the saved settings cannot be read; retrying');
      this.#isTroubled = true;
    }
  }
}

/** Throws ConfigError that says where the settings are, because the file alone is right. */
function readWithSaved(reader: ConfigReader, settings: SavedSettings, version: number): Config {
  try {
    const config = reader.withSaved(settings);
    loadCatalog(config);
    return config;
  } catch (cause) {
    if (!(cause instanceof ConfigError) || version === 0) throw cause;
    const { remedy, ...fault } = cause.fault;
    const how = `The settings saved in the database (version ${version}) do not fit the file: mend them with "tollgate settings unset FIELD" or "tollgate settings restore VERSION" (see "tollgate settings show"), which need no running gateway, or mend the file.`;
    throw new ConfigError({ ...fault, remedy: `${remedy} ${how}` }, { cause });
  }
}

/** What HTTP threads ask of the live configuration. */
export function settingsOf(live: LiveConfig): LiveSettings {
  return {
    resolve: async (settings) => live.resolve(settings),
    apply: () => live.look(),
    state: async () => live.state(),
  };
}

/** The configuration with the sections of another that change while the gateway runs. */
function withLive(config: Config, other: Config): Config {
  const live = liveSections.map((section) => [section, other[section]] as const);
  return Object.freeze({
    ...config,
    ...(Object.fromEntries(live) as Pick<Config, (typeof liveSections)[number]>),
    warnings: other.warnings,
  });
}

/** The sections that differ, of those that are read at the start only. */
function fixedFieldsOf(config: Config, other: Config): string[] {
  const live: readonly string[] = [...liveSections, 'warnings', 'tuning'];
  return Object.keys(other).filter(
    (name) =>
      !live.includes(name) &&
      !isDeepStrictEqual(config[name as keyof Config], other[name as keyof Config]),
  );
}
