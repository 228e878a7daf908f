// The state of the service: providers, catalogue and configuration.
import { endpoint } from './endpoint.ts';

export type ProviderRoute = {
  readonly model: string;
  /** `ejected`: out of use for a while. `probing`: one request at a time tries it. */
  readonly state: 'in-use' | 'ejected' | 'probing';
  readonly reason: 'failures' | 'refused' | null;
  readonly ejected_until: string | null;
  /** Since the start of this gateway. */
  readonly calls: number;
  readonly failures: number;
  /** How often the provider refused the credential. */
  readonly refusals: number;
};

/** In milliseconds, accurate to ten percent. */
type Latency = { readonly p50_ms: number; readonly p95_ms: number };

/** Sums over all calls of all gateways, retries included. */
export type ProviderDay = {
  readonly calls: number;
  readonly failures: number;
  /** How often the provider refused the credential. */
  readonly refusals: number;
  /** Time to the first chunk of streams; null when none succeeded. */
  readonly stream: Latency | null;
  /** Time to the end of whole answers; null when none succeeded. */
  readonly whole: Latency | null;
};

type Provider = {
  readonly name: string;
  readonly kind: string;
  readonly is_on: boolean;
  /** Without credentials. */
  readonly base_url: string;
  readonly has_key: boolean;
  /** The number of catalogue models that it can serve. */
  readonly models: number;
  /** The last 24 hours; null when it was not called. */
  readonly last_day: ProviderDay | null;
  /** The routes used since this gateway started. */
  readonly routes: readonly ProviderRoute[];
};

/** A model without a current price never runs. Without a route only test keys may use it. */
export type CatalogueProblem = 'no-price' | 'no-route';

export type CatalogueModel = {
  readonly id: string;
  readonly name: string;
  readonly type: 'chat' | 'image';
  readonly problems: readonly CatalogueProblem[];
  /** In the order that they are tried. */
  readonly routes: readonly CatalogueRoute[];
};

export type CatalogueRoute = {
  readonly provider: string;
  /** The provider's ids: an image model may have one for each quality. */
  readonly models: readonly string[];
  readonly is_on: boolean;
};

export type Catalogue = {
  readonly data: readonly CatalogueModel[];
  readonly warnings: readonly string[];
};

export type Setting = {
  /** `server.port` */
  readonly path: string;
  /** JSON; null: not set, or a secret. */
  readonly value: unknown;
  readonly is_secret: boolean;
  readonly is_set: boolean;
  readonly is_default: boolean;
  readonly description: string;
};

export type ServiceSettings = {
  readonly database: 'sqlite' | 'postgres';
  readonly data_dir: string;
  readonly warnings: readonly string[];
  readonly settings: readonly Setting[];
};

export const operatorServiceEndpoints = {
  'GET /operator/providers': endpoint<{ readonly data: readonly Provider[] }>()({
    access: 'operator',
  }),
  'GET /operator/catalogue': endpoint<Catalogue>()({ access: 'operator' }),
  'GET /operator/settings': endpoint<ServiceSettings>()({ access: 'operator' }),
};
