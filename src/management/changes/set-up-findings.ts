// What is missing or doubtful in the set-up of an installation, and how to mend it. `tollgate doctor`
// and the operator's home show it.
import type { Config } from '../../config/schema.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { endingModels, type EndingModel } from '../../domain/catalog/check-catalog.ts';
import { readBuiltInCatalog } from '../../domain/catalog/load-catalog.ts';
import { dayMs, dayOf } from '../../lib/utc-time.ts';

export type Finding = {
  readonly area:
    | 'versions'
    | 'configuration'
    | 'database'
    | 'disk'
    | 'clock'
    | 'providers'
    | 'models'
    | 'mail'
    | 'backup';
  readonly level: 'ok' | 'warning' | 'error';
  readonly what: string;
  /** null: nothing to do. */
  readonly remedy: string | null;
};

export function findingsOf(area: Finding['area']) {
  const of =
    (level: Finding['level']) =>
    (what: string, remedy: string | null = null): Finding => ({ area, level, what, remedy });
  return { ok: of('ok'), warning: of('warning'), error: of('error') };
}

const configuration = findingsOf('configuration');
const ofProviders = findingsOf('providers');
const ofModels = findingsOf('models');
const ofBackup = findingsOf('backup');

const pricesOldDays = 30;
export const backupOldDays = 7;
const endsSoonDays = 90;
/** Ending models that are named, the soonest first: `tollgate models check` lists all. */
const namedModels = 6;

/** Returns warnings about the configuration. */
export function examineConfig(config: Config, catalog: Catalog, nowMs: number): readonly Finding[] {
  const { server, metrics, signup, smtp, oidc, stripe, test_mode: testMode } = config;
  const gaps: readonly (readonly [isFound: boolean, what: string, remedy: string])[] = [
    [
      server.public_url === null && (stripe !== null || smtp !== null || oidc !== null),
      'Links in mails, payments and single sign-on need the address of this gateway, and it is not set.',
      'Set server.public_url.',
    ],
    [
      metrics.token === undefined,
      'There is no metrics token, so nothing can watch this gateway.',
      'Set metrics.token.',
    ],
    [
      signup.open && smtp === null,
      'Anybody can sign up, and no address is confirmed, because there is no mail server.',
      'Set smtp, or signup.open to false.',
    ],
    [
      signup.open && !testMode.enabled && stripe === null,
      'New accounts can neither test nor pay.',
      'Set stripe, or test_mode.enabled.',
    ],
  ];
  return [
    ...config.warnings.map((what) => configuration.warning(what)),
    ...gaps
      .filter(([isFound]) => isFound)
      .map(([, what, remedy]) => configuration.warning(what, remedy)),
    ...examinePrices(nowMs),
    ...examineModels(catalog, nowMs),
  ];
}

/** Returns a warning, or which providers are switched on. */
export function examineSwitchedOn({ providers }: Pick<Config, 'providers'>): Finding {
  const on = Object.entries(providers).filter(([, { enabled }]) => enabled);
  return on.length === 0
    ? ofProviders.warning(
        'No provider is switched on.',
        'Add a provider in the dashboard, or set its key (such as OPENAI_API_KEY). Live keys have no models until then.',
      )
    : ofProviders.ok(`Switched on: ${on.map(([name]) => name).join(', ')}.`);
}

type NextSteps = {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly nowMs: number;
  /** null: no backup was recorded. */
  readonly lastBackupMs: number | null;
  readonly isPostgres: boolean;
};

/** Returns what an operator should do next, the most pressing first. */
export function nextSteps({ config, catalog, ...backup }: NextSteps): readonly Finding[] {
  const found = [
    examineSwitchedOn(config),
    ...examineBackup(backup),
    ...(config.smtp === null ? [noMail] : []),
    ...examineConfig(config, catalog, backup.nowMs),
  ];
  return found.filter(({ level }) => level !== 'ok');
}

const noMail = findingsOf('mail').warning(
  'There is no mail server, so nobody gets invitations, links for a new password or low-balance warnings by e-mail.',
  'Set smtp.',
);

function examineBackup({
  nowMs,
  lastBackupMs,
  isPostgres,
}: Omit<NextSteps, 'config' | 'catalog'>): readonly Finding[] {
  const remedy = isPostgres
    ? 'Run pg_dump, then "tollgate backup --done" to record it.'
    : 'Run "tollgate backup FILE" every day, and keep the file on another machine.';
  if (lastBackupMs === null) return [ofBackup.warning('No backup was made yet.', remedy)];
  const days = Math.floor((nowMs - lastBackupMs) / dayMs);
  return days > backupOldDays
    ? [ofBackup.warning(`The last backup is ${days} days old.`, remedy)]
    : [];
}

function examineModels(catalog: Catalog, nowMs: number): readonly Finding[] {
  const models = endingModels(catalog)
    .filter(({ retiresAtMs }) => retiresAtMs < nowMs + endsSoonDays * dayMs)
    .toSorted((one, other) => one.retiresAtMs - other.retiresAtMs);
  const { ended = [], ending = [] } = Object.groupBy(models, ({ retiresAtMs }) =>
    retiresAtMs <= nowMs ? 'ended' : 'ending',
  );
  return [...warnOfEnds('have ended', ended), ...warnOfEnds('end', ending)];
}

function warnOfEnds(verb: string, models: readonly EndingModel[]): readonly Finding[] {
  if (models.length === 0) return [];
  const first = models.slice(0, namedModels);
  const named = first.map(({ id, retiresAtMs }) => `${id} on ${dayOf(retiresAtMs)}`);
  if (models.length > first.length) named.push(`and ${models.length - first.length} more`);
  return [
    ofModels.warning(
      `Providers ${verb} models that are on sale: ${named.join(', ')}.`,
      'Tell their users; "tollgate models check" names the successors. models.<id>.ended stops a sale.',
    ),
  ];
}

function examinePrices(nowMs: number): readonly Finding[] {
  const pricesOf = readBuiltInCatalog().as_of;
  const days = Math.floor((nowMs - Date.parse(pricesOf)) / dayMs);
  return days > pricesOldDays
    ? [
        configuration.warning(
          `The built-in prices are ${days} days old (${pricesOf}).`,
          'Upgrade Tollgate, or compare them with "tollgate models update".',
        ),
      ]
    : [];
}
