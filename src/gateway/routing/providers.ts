// The active providers: their configuration joined with their kind.
import { isChatKind, isImageKind } from '../../terms/provider-kind.ts';
import { findKnownProvider, knownProviders } from '../../config/known-providers.ts';
import type { Config } from '../../config/schema.ts';
import { silenceDefaultsMs, type ProviderTimeouts } from '../../config/timeouts.ts';
import { chatProviderKinds, imageProviderKinds } from '../../providers/registry.ts';
import type { ImageProvider, ImageProviderKind } from '../../providers/image-provider.ts';
import type { HttpProviderKind } from '../../providers/provider.ts';
import type { Secret } from '../../lib/secrets.ts';
import { createEndUsers, type EndUsers } from './end-users.ts';
import type { UpstreamProvider } from '../calling/upstream-call.ts';

type ProviderEntry = Config['providers'][string];

export type ConnectedProvider = UpstreamProvider & {
  readonly kind: HttpProviderKind;
  /** null: the provider wants none. */
  readonly apiKey: string | null;
  readonly timeouts: ProviderTimeouts;
  /** Unknown request fields that are passed on to this provider. */
  readonly passFields: ReadonlySet<string>;
  /** Fields of earlier answers that its Chat refuses. */
  readonly refusedHistory: readonly string[];
  /** Harmless request fields that its Chat refuses. */
  readonly refusedFields: readonly string[];
  /** True when it gets a prompt-cache salt for each account. */
  readonly takesCacheSalt: boolean;
  /** Calls a minute; null: no limit. */
  readonly callsPerMinute: number | null;
  /** Prices of the searches that it runs. */
  readonly pricing: Pick<ProviderEntry, 'kind' | 'tool_prices'>;
};

export type ConnectedImageProvider = ImageProvider & { readonly kind: ImageProviderKind };

export type ConnectedProviders = {
  /** Providers of chat models. */
  readonly byName: ReadonlyMap<string, ConnectedProvider>;
  /** Providers of images; a provider can be both. */
  readonly images: ReadonlyMap<string, ConnectedImageProvider>;
  /** Providers that the sandbox plays for test keys: all known ones, without credentials. */
  readonly played: ReadonlyMap<string, ConnectedProvider>;
  /** How end users are named to all of them. */
  readonly endUsers: EndUsers;
};

export function connectProviders(config: Config, secret: Secret): ConnectedProviders {
  const byName = new Map<string, ConnectedProvider>();
  const played = new Map<string, ConnectedProvider>();
  const images = new Map<string, ConnectedImageProvider>();
  for (const [name, provider] of Object.entries({ ...unconfigured, ...config.providers })) {
    const connected = connect(name, provider);
    if (connected) played.set(name, { ...connected, apiKey: null });
    if (connected && provider.enabled) byName.set(name, connected);
    const imageProvider = provider.enabled && connectImages(name, provider);
    if (imageProvider) images.set(name, imageProvider);
  }
  return { byName, played, images, endUsers: createEndUsers(secret) };
}

/**
 * The known providers without any configuration. They are only played, so timeouts do not matter.
 */
const unconfigured = Object.fromEntries(
  Object.entries(knownProviders).map(([name, { kind, baseUrl }]): [string, ProviderEntry] => [
    name,
    {
      enabled: false,
      kind,
      base_url: baseUrl ?? '',
      api_key: null,
      timeouts: { connect_ms: 1, total_ms: 1 },
      tool_prices: {},
      pass_fields: [],
      cache_salt: false,
      credential_of: null,
      weight: 1,
      requests_per_minute: null,
    },
  ]),
);

/** Returns null for a kind without chat models. */
function connect(name: string, provider: ProviderEntry): ConnectedProvider | null {
  const { kind, base_url: baseUrl, api_key: apiKey, timeouts } = provider;
  if (!isChatKind(kind)) return null;
  const known = findKnownProvider(name, baseUrl);
  return {
    name,
    baseUrl,
    apiKey,
    timeouts,
    kind: chatProviderKinds[kind],
    passFields: new Set(provider.pass_fields),
    refusedHistory: known?.refusedHistory ?? [],
    refusedFields: known?.refusedFields ?? [],
    takesCacheSalt: provider.cache_salt,
    callsPerMinute: provider.requests_per_minute,
    pricing: provider,
  };
}

/** Returns null for a kind without images. */
function connectImages(name: string, provider: ProviderEntry): ConnectedImageProvider | null {
  const { kind, base_url: baseUrl, api_key: apiKey } = provider;
  if (!isImageKind(kind)) return null;
  // A whole image arrives after a minute or two of silence.
  const { long } = silenceDefaultsMs;
  const timeouts = { first_byte_ms: long, idle_ms: long, ...provider.timeouts };
  return { name, baseUrl, apiKey, timeouts, kind: imageProviderKinds[kind] };
}
