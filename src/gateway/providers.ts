// The providers that are switched on: what the configuration says of each, joined with what its kind is.
import type { Config } from '../config/schema.ts';
import { firstByteDefaultsMs, type ProviderTimeouts } from '../config/timeouts.ts';
import { imageProviderKinds, providerKinds, sandbox } from '../providers/registry.ts';
import type { ImageProvider, ImageProviderKind } from '../providers/image-provider.ts';
import type { HttpProviderKind, SandboxProviderKind } from '../providers/provider.ts';
import type { Secret } from '../lib/secrets.ts';
import { createEndUsers, type EndUsers } from './end-users.ts';
import type { UpstreamProvider } from './upstream.ts';

export type ConnectedProvider = UpstreamProvider & {
  readonly kind: HttpProviderKind;
  /** null: the provider wants none. */
  readonly apiKey: string | null;
  readonly timeouts: ProviderTimeouts;
  /** Of a request, the fields that go there unknown as they are. */
  readonly passFields: ReadonlySet<string>;
  /** Whether it is given a salt for the prompt cache of each account. */
  readonly takesCacheSalt: boolean;
};

export type ConnectedImageProvider = ImageProvider & { readonly kind: ImageProviderKind };

export type ConnectedProviders = {
  /** Those that run chat models. */
  readonly byName: ReadonlyMap<string, ConnectedProvider>;
  /** Those that make images: a provider can be both. */
  readonly images: ReadonlyMap<string, ConnectedImageProvider>;
  readonly sandbox: SandboxProviderKind;
  /** What all of them are told of whom a request is for. */
  readonly endUsers: EndUsers;
};

export function connectProviders(config: Config, secret: Secret): ConnectedProviders {
  const byName = new Map<string, ConnectedProvider>();
  const images = new Map<string, ConnectedImageProvider>();
  for (const [name, provider] of Object.entries(config.providers)) {
    if (!provider.enabled) continue;
    const connection = { name, baseUrl: provider.base_url, apiKey: provider.api_key, timeouts: provider.timeouts };
    const { kind } = provider;
    const sent = { passFields: new Set(provider.pass_fields), takesCacheSalt: provider.cache_salt };
    if (isNameIn(providerKinds, kind)) byName.set(name, { ...connection, ...sent, kind: providerKinds[kind] });
    if (!isNameIn(imageProviderKinds, kind)) continue;
    // Whole images come after a minute or two of silence.
    const timeouts = { first_byte_ms: firstByteDefaultsMs.slow, ...provider.timeouts };
    images.set(name, { ...connection, timeouts, kind: imageProviderKinds[kind] });
  }
  return { byName, images, sandbox, endUsers: createEndUsers(secret) };
}

function isNameIn<Kinds extends object>(kinds: Kinds, name: string): name is keyof Kinds & string {
  return Object.hasOwn(kinds, name);
}
