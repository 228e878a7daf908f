// The providers that are switched on: what the configuration says of each, joined with what its kind is.
import type { ProviderKindName } from '../config/known-providers.ts';
import type { Config } from '../config/schema.ts';
import type { ProviderTimeouts } from '../config/timeouts.ts';
import { providerKinds, sandbox } from '../providers/registry.ts';
import type { HttpProviderKind, SandboxProviderKind } from '../providers/provider.ts';
import type { UpstreamProvider } from './upstream.ts';

export type ConnectedProvider = UpstreamProvider & {
  readonly kind: HttpProviderKind;
  /** null: the provider wants none. */
  readonly apiKey: string | null;
  readonly timeouts: ProviderTimeouts;
};

export type ConnectedProviders = {
  readonly byName: ReadonlyMap<string, ConnectedProvider>;
  readonly sandbox: SandboxProviderKind;
};

export function connectProviders(config: Config): ConnectedProviders {
  const byName = new Map<string, ConnectedProvider>();
  for (const [name, provider] of Object.entries(config.providers)) {
    const kind = chatKindOf(provider.kind);
    if (!provider.enabled || !kind) continue;
    byName.set(name, {
      name,
      kind,
      baseUrl: provider.base_url ?? kind.defaultBaseUrl ?? '',
      apiKey: provider.api_key,
      timeouts: provider.timeouts,
    });
  }
  return { byName, sandbox };
}

/** undefined: it runs no chat models. */
function chatKindOf(name: ProviderKindName): HttpProviderKind | undefined {
  return Object.entries(providerKinds).find(([kind]) => kind === name)?.[1];
}
