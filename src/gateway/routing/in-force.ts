// The configuration in force, and where requests can go by it. Both are replaced together, and a
// request keeps those that it began with.
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/schema.ts';
import { loadCatalog } from '../../domain/catalog/load-catalog.ts';
import type { Rates } from '../../domain/limits/rates.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Secret } from '../../lib/secrets.ts';
import { limitCalls } from '../calling/call-limits.ts';
import type { RouteName } from '../calling/shared-health.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import { connectProviders } from './providers.ts';
import type { Hosts, Routing } from './routing.ts';
import { connectSearch } from '../search/search-sources.ts';

type Parts = {
  readonly secret: Secret;
  readonly upstreams: Upstreams;
  readonly routing: Routing;
  readonly limits: { readonly rates: Pick<Rates, 'take'> };
  readonly clock: Clock;
};

type Now = { readonly config: Config; readonly hosts: Hosts };

export class InForce {
  readonly #parts: Parts;
  #now: Now;

  constructor(config: Config, parts: Parts) {
    this.#parts = parts;
    this.#now = { config, hosts: this.#connect(config) };
  }

  get now(): Now {
    return this.#now;
  }

  /**
   * Uses another configuration for requests that begin from now on. `shared`: the routes whose health
   * all threads of the process share. Throws ConfigError, and changes nothing, if it does not fit the
   * built-in catalogue.
   */
  use(config: Config, shared: readonly RouteName[]): void {
    const hosts = this.#connect(config);
    const { upstreams, routing } = this.#parts;
    routing.health.share(shared);
    for (const [name, provider] of Object.entries(this.#now.config.providers)) {
      if (isDeepStrictEqual(provider, config.providers[name])) continue;
      routing.health.forgetTrouble(name);
      upstreams.retire(name);
    }
    this.#now.hosts.providers.retireOwnKeys();
    this.#now = { config, hosts };
  }

  #connect(config: Config): Hosts {
    const { secret, upstreams, routing, limits, clock } = this.#parts;
    const { health } = routing;
    const takeCall = limitCalls(config, limits.rates);
    return {
      catalog: loadCatalog(config),
      providers: connectProviders(config, { secret, upstreams, clock }),
      searchers: connectSearch({ config, upstreams, health, takeCall, clock }),
      upstreams,
      routing,
      takeCall,
    };
  }
}
