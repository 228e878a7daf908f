// The state of the service: providers, catalogue and configuration.
import { modelTypeNames } from '../../terms/model-type.ts';
import { Type } from 'typebox';
import { closed, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { endFields, TokenPrices, UnitMicros } from './models.ts';

export const ProviderRoute = closed({
  model: Type.String(),
  state: Type.Enum(['in-use', 'ejected', 'probing']),
  reason: orNull(Type.Enum(['failures', 'refused'])),
  ejected_until: orNull(Type.String()),
  calls: Type.Integer({ description: 'Since the start of this gateway.' }),
  failures: Type.Integer(),
  refusals: Type.Integer({ description: 'How often the provider refused the credential.' }),
});
export type ProviderRoute = Output<typeof ProviderRoute>;

/** In milliseconds, accurate to ten percent. */
const Latency = closed({ p50_ms: Type.Number(), p95_ms: Type.Number() });

/** Sums over all calls of all gateways, retries included. */
export const ProviderDay = closed({
  calls: Type.Integer(),
  failures: Type.Integer(),
  refusals: Type.Integer({ description: 'How often the provider refused the credential.' }),
  stream: orNull(Latency, 'Time to the first chunk of streams; null when none succeeded.'),
  whole: orNull(Latency, 'Time to the end of whole answers; null when none succeeded.'),
});
export type ProviderDay = Output<typeof ProviderDay>;

const Provider = closed({
  name: Type.String(),
  kind: Type.String(),
  is_on: Type.Boolean(),
  base_url: Type.String({ description: 'Without credentials.' }),
  has_key: Type.Boolean(),
  models: Type.Integer({ description: 'The number of catalogue models that it can serve.' }),
  last_day: orNull(ProviderDay, 'The last 24 hours; null when it was not called.'),
  routes: Type.Array(ProviderRoute, { description: 'The routes used since this gateway started.' }),
});

/** A model without a current price never runs. Without a route only test keys may use it. */
const CatalogueProblem = Type.Enum(['no-price', 'no-route']);

export const CatalogueRoute = closed({
  provider: Type.String(),
  models: Type.Array(Type.String()),
  is_on: Type.Boolean(),
});
export type CatalogueRoute = Output<typeof CatalogueRoute>;

export const CatalogueModel = closed({
  id: Type.String(),
  name: Type.String(),
  type: Type.Enum([...modelTypeNames, 'image']),
  problems: Type.Array(CatalogueProblem),
  routes: Type.Array(CatalogueRoute, { description: 'In the order that they are tried.' }),
  aliases: Type.Array(Type.String(), { description: 'Other names that mean it.' }),
  price: orNull(TokenPrices),
  cost: orNull(TokenPrices),
  unit_price_micros: UnitMicros,
  unit_cost_micros: UnitMicros,
  context_tokens: orNull(Type.Integer(), 'Input and output together; null: an image model.'),
  max_output_tokens: orNull(Type.Integer(), 'null: an image model.'),
  ...endFields,
  is_own_price: Type.Boolean({ description: 'True when the operator set it: no markup is added.' }),
  entry: Type.Unknown(),
});
export type CatalogueModel = Output<typeof CatalogueModel>;

export const Catalogue = closed({
  data: Type.Array(CatalogueModel),
  warnings: Type.Array(Type.String()),
});
export type Catalogue = Output<typeof Catalogue>;

export const Setting = closed({
  path: Type.String({ description: '`server.port`' }),
  value: Type.Unknown({ description: 'JSON; null: not set, or a secret.' }),
  is_secret: Type.Boolean(),
  is_set: Type.Boolean(),
  is_default: Type.Boolean(),
  description: Type.String(),
});
export type Setting = Output<typeof Setting>;

export const ServiceSettings = closed({
  database: Type.Enum(['sqlite', 'postgres']),
  data_dir: Type.String(),
  warnings: Type.Array(Type.String()),
  settings: Type.Array(Setting),
});
export type ServiceSettings = Output<typeof ServiceSettings>;

export const serviceEndpoints = {
  'GET /operator/providers': endpoint({
    access: 'operator',
    summary: 'List providers and their state',
    output: closed({ data: Type.Array(Provider) }),
  }),
  'GET /operator/catalogue': endpoint({
    access: 'operator',
    commands: ['models list', 'models check'],
    summary: 'List the catalogue and its problems',
    output: Catalogue,
  }),
  'GET /operator/settings': endpoint({
    access: 'operator',
    summary: 'List the settings',
    output: ServiceSettings,
  }),
};
