// Settings that operators change while the gateway runs: providers, models, aliases, prices, search.
import { Type } from 'typebox';
import { providerKindNames } from '../../terms/provider-kind.ts';
import { closed, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

const Path = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: 4,
});

/** Without `value`: removes what was saved. */
const Change = closed({ path: Path, value: Type.Optional(Type.Unknown()) });
const Changes = Type.Array(Change, { maxItems: 500 });

const Version = Type.Integer({ minimum: 0 });

export const SavedSettings = closed({
  version: Type.Integer({ description: 'The newest saved version; 0: nothing was ever saved.' }),
  in_force: Type.Integer({ description: 'The version that this gateway uses.' }),
  problem: orNull(Type.String(), 'Why this gateway does not use the newest; null: it does.'),
  settings: Type.Unknown(),
  credentials: Type.Array(closed({ path: Path, hint: Type.String({ description: '`…x4Qz`' }) })),
  locked: Type.Array(
    closed({
      path: Path,
      by: Type.String({ description: '`tollgate.yaml:12`, or the name of a variable.' }),
    }),
    { description: 'Fields that the file or the environment sets: saving them has no effect.' },
  ),
  known_providers: Type.Array(
    closed({
      name: Type.String(),
      kind: Type.Enum([...providerKindNames], { description: 'As in the configuration file.' }),
      base_url: orNull(Type.String(), 'null: you must set it.'),
      needs_key: Type.Boolean({ description: 'False for one without authentication.' }),
      models: Type.Integer({ description: 'The built-in models that it serves.' }),
    }),
    { description: 'Providers that need no more than a key.' },
  ),
});
export type SavedSettings = Output<typeof SavedSettings>;

const SettingsVersion = closed({
  version: Type.Integer({ description: '1, 2, 3 …' }),
  created_at: Type.String({ description: 'When it was saved.' }),
  author: Type.String({ description: 'The user, admin key or command that saved it.' }),
  note: Type.String({ description: 'What was changed.' }),
});

const TestStep = closed({
  step: Type.Enum(['models', 'answer', 'stream'], { description: 'What was asked for.' }),
  works: orNull(Type.Boolean(), 'null: it was not tried.'),
  what: Type.String({ description: "What was found, or the provider's own words." }),
});

const ListedModel = closed({
  id: Type.String({ description: "The provider's own id." }),
  model: orNull(Type.String(), 'The model of the catalogue that it is; null: a new one.'),
  is_sold: Type.Boolean({ description: 'True when the catalogue has a route to it here.' }),
  context_tokens: orNull(Type.Integer(), 'Its longest context; null: the provider does not say.'),
  prices: orNull(
    closed({
      input: Type.Number({ description: 'For input.' }),
      output: Type.Number({ description: 'For output.' }),
      cache_read: Type.Optional(Type.Number({ description: 'For input read from its cache.' })),
      cache_write: Type.Optional(Type.Number({ description: 'For input written to its cache.' })),
    }),
    "The provider's own, in USD per million tokens; null: it does not say.",
  ),
});

const ProviderTest = closed({
  steps: Type.Array(TestStep, { description: 'In the order in which they were tried.' }),
  models: Type.Array(ListedModel, { description: 'What the provider lists.' }),
  cost_micros: orNull(
    Type.Integer(),
    'What the test cost the operator; null: its price is unknown.',
  ),
});

const PreviewedModel = closed({
  model: Type.String({ description: 'Its id.' }),
  requests: Type.Integer({ description: 'The requests that were priced again.' }),
  charged_micros: Type.Integer({ description: 'What accounts paid.' }),
  would_charge_micros: Type.Integer({ description: 'What they would have paid.' }),
  cost_micros: Type.Integer({ description: 'What the operator paid.' }),
  would_cost_micros: Type.Integer({ description: 'What the operator would have paid.' }),
});

const PricePreview = closed({
  from: Type.String(),
  to: Type.String({ description: 'Now.' }),
  requests: Type.Integer({ description: 'The charged requests in that time.' }),
  left_out: Type.Integer(),
  data: Type.Array(PreviewedModel, { description: 'The models whose sum changes.' }),
});
export type PricePreview = Output<typeof PricePreview>;

export const settingsEndpoints = {
  'GET /operator/settings/saved': endpoint({
    access: 'operator',
    scope: 'settings:read',
    commands: ['settings show'],
    summary: 'Get the saved settings',
    output: SavedSettings,
  }),
  'PATCH /operator/settings/saved': endpoint({
    access: 'operator',
    scope: 'settings:write',
    confirmed: 'when-judged',
    commands: ['settings set', 'settings unset'],
    summary: 'Change the saved settings',
    note: 'Every gateway uses them within two seconds, for requests that begin then. A stored credential is sent only where it was sent before: another `base_url` or `kind` needs the key anew.',
    body: closed({
      version: Version,
      changes: Changes,
      note: Type.Optional(
        Type.String({
          maxLength: 500,
          description: 'For the list of versions. Default: what was changed.',
        }),
      ),
    }),
    output: SavedSettings,
  }),
  'GET /operator/settings/versions': endpoint({
    access: 'operator',
    scope: 'settings:read',
    commands: ['settings versions'],
    summary: 'List the versions of the saved settings',
    note: 'Newest first; the last 100 are kept.',
    output: closed({ data: Type.Array(SettingsVersion, { description: 'The newest first.' }) }),
  }),
  'POST /operator/settings/restore': endpoint({
    access: 'operator',
    scope: 'settings:write',
    confirmed: 'when-judged',
    commands: ['settings restore'],
    summary: 'Go back to an earlier version of the settings',
    note: 'It is saved as a new version.',
    body: closed({
      version: Version,
      restored: Type.Integer({ minimum: 0, description: 'The version to go back to.' }),
    }),
    output: SavedSettings,
  }),
  'POST /operator/settings/reload': endpoint({
    access: 'operator',
    scope: 'settings:write',
    commands: ['reload'],
    summary: 'Have every gateway read its configuration file again',
    note: 'A gateway that cannot use the file goes on as before and says why in its log and in `problem`.',
    output: SavedSettings,
  }),
  'POST /operator/settings/preview': endpoint({
    access: 'operator',
    scope: 'settings:read',
    summary: "Show what changed prices would have charged for the last week's requests",
    body: closed({ changes: Changes }),
    output: PricePreview,
  }),
  'POST /operator/settings/export': endpoint({
    access: 'operator',
    scope: 'settings:read',
    commands: ['config export'],
    summary: 'Write the saved settings as a configuration file',
    note: 'Credentials are written as variables, which you set yourself.',
    output: closed({ yaml: Type.String({ description: 'The text of the file.' }) }),
  }),
  'POST /operator/settings/test-provider': endpoint({
    access: 'operator',
    scope: 'settings:write',
    confirmed: 'when-judged',
    summary: 'Try a provider',
    note: 'Asks for its models, and for two short answers of one of them, which cost a few tokens. Nothing is saved. Only an address that is not in use yet must be confirmed.',
    body: closed({
      provider: Type.String({ maxLength: 40, description: 'Its name.' }),
      changes: Type.Optional(Changes),
      model: Type.Optional(
        Type.String({ maxLength: 200, description: "The provider's own id; default: a sold one." }),
      ),
    }),
    output: ProviderTest,
  }),
};
