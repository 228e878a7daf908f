// Saved settings over both doors: reading, changing, going back, trying a provider, previewing prices.
import { noSuch } from '../../canonical/errors.ts';
import { knownProviders } from '../../config/known-providers.ts';
import type { SavedSettings as Settings } from '../../config/saved-settings.ts';
import { isObject } from '../../lib/json.ts';
import { loadCatalog } from '../../domain/catalog/load-catalog.ts';
import { priceFor, priceUsage } from '../../domain/catalog/price.ts';
import { listSettings, readSettings } from '../../domain/settings/settings-versions.ts';
import { testProvider } from '../../gateway/models/test-provider.ts';
import { exportSettings } from '../changes/export-settings.ts';
import {
  changeSavedSettings,
  draftSettings,
  reloadFile,
  restoreSettings,
  withoutCredentials,
} from '../changes/settings.ts';
import type { ManagementContext } from '../context.ts';
import type { SavedSettings, settingsEndpoints } from '../contract/settings.ts';
import type { Handlers } from '../handlers.ts';
import { previewPrices } from './price-preview.ts';

export const settingsHandlers: Handlers<typeof settingsEndpoints> = {
  'GET /operator/settings/saved': ({ context }) => describe(context),

  'PATCH /operator/settings/saved': async ({ context, body, changes, confirm }) => {
    const { note = noteOf(body.changes), ...asked } = body;
    await changeSavedSettings(changes, { ...context, confirm }, { ...asked, note });
    return describe(context);
  },

  'GET /operator/settings/versions': async ({ context }) => {
    const versions = await listSettings(context.database.read);
    return {
      data: versions.map(({ created_at_ms: atMs, ...version }) => ({
        ...version,
        created_at: new Date(atMs).toISOString(),
      })),
    };
  },

  'POST /operator/settings/restore': async ({ context, body, changes, confirm }) => {
    await restoreSettings(changes, { ...context, confirm }, body);
    return describe(context);
  },

  'POST /operator/settings/reload': async ({ context, changes }) => {
    await reloadFile(changes, context);
    return describe(context);
  },

  'POST /operator/settings/preview': async ({ context, body }) => {
    const { config } = await draftSettings(context, body);
    return previewPrices(context, config);
  },

  'POST /operator/settings/export': async ({ context: { database, secrets } }) => {
    const { settings } = (await readSettings(database.read, secrets))!;
    return { yaml: exportSettings(settings) };
  },

  'POST /operator/settings/test-provider': async ({ context, body, confirm }) => {
    const { provider: name, changes = [] } = body;
    const { config, after } = await draftSettings(context, { changes });
    const provider = config.providers[name];
    if (!provider) throw noSuch(`provider as ${JSON.stringify(name)}`);
    // A stolen session must not reach addresses of the operator's network.
    const owner = provider.credential_of ?? name;
    const inUse = context.gateway.config.providers[owner]?.base_url;
    if (isAddressSaved(after, owner) && provider.base_url !== inUse) await confirm();
    const catalog = loadCatalog(config);
    const sold = catalog
      .list()
      .flatMap((model) =>
        model.routes
          .filter((route) => route.provider === name)
          .map(({ upstreamModel }) => ({ model, upstreamModel })),
      );
    const answers = sold.find(({ model: { type } }) => type === 'chat');
    const model = body.model ?? answers?.upstreamModel ?? null;
    const { clock, hosts } = context.gateway;
    const parts = { upstreams: hosts.upstreams, clock };
    const { steps, models, usages } = await testProvider(parts, { name, provider, model });
    const nowMs = clock.nowMs();
    const tested = sold.find(({ upstreamModel }) => upstreamModel === model);
    const price = tested && priceFor(tested.model, { ...atCost, nowMs });
    const cost = (usage: (typeof usages)[number]) =>
      priceUsage(price!, { usage, nowMs }).upstreamCostMicros;
    return {
      steps,
      models: models.map(({ id, contextTokens, prices }) => {
        const known = sold.find(({ upstreamModel }) => upstreamModel === id);
        const meant = known?.model ?? catalog.resolve(id);
        return {
          id,
          model: meant?.id ?? null,
          is_sold: known !== undefined,
          context_tokens: contextTokens,
          prices,
        };
      }),
      cost_micros:
        price || usages.length === 0 ? usages.reduce((sum, usage) => sum + cost(usage), 0) : null,
    };
  },
};

const atCost = { markup: 1, multiplierPpm: 1_000_000 };

async function describe(context: ManagementContext): Promise<SavedSettings> {
  const { database, secrets, settings } = context;
  const { version, settings: saved } = (await readSettings(database.read, secrets))!;
  const { settings: shown, secrets: credentials } = withoutCredentials(saved);
  const state = await settings.state();
  const { catalog } = context.gateway.hosts;
  const models = [...catalog.list(), ...catalog.images.list()];
  const servedBy = (name: string) =>
    models.filter(({ routes }) => routes.some(({ provider }) => provider === name)).length;
  return {
    version,
    in_force: state.version,
    problem: state.problem,
    settings: shown,
    credentials,
    locked: state.locked.map(({ path, by }) => ({ path: path.map(String), by })),
    known_providers: Object.entries(knownProviders).map(
      ([name, { kind, baseUrl, keyVariable }]) => ({
        name,
        kind,
        base_url: typeof baseUrl === 'function' ? baseUrl(null) : baseUrl,
        needs_key: keyVariable !== null,
        models: servedBy(name),
      }),
    ),
  };
}

function isAddressSaved({ providers = {} }: Settings, name: string): boolean {
  const entry = providers[name];
  return isObject(entry) && entry['base_url'] !== undefined;
}

/** What the list of versions says about a change without a note. */
function noteOf(changes: readonly { readonly path: readonly string[] }[]): string {
  const entries = new Set(changes.map(({ path }) => path.slice(0, 2).join(' ')));
  return [...entries].slice(0, 10).join(', ');
}
