// The active providers: their configuration joined with their kind.
import { LRUCache } from 'lru-cache';
import { ownKeyName } from '../../terms/own-key.ts';
import { isChatKind, isImageKind } from '../../terms/provider-kind.ts';
import { findKnownProvider, knownProviders } from '../../config/known-providers.ts';
import { usualSettings } from '../../config/providers.ts';
import type { Config } from '../../config/schema.ts';
import { silenceDefaultsMs, type ProviderTimeouts } from '../../config/timeouts.ts';
import type { BatchHost } from '../../providers/batches/host.ts';
import { batchHostOf } from '../../providers/batches/index.ts';
import { chatProviderKinds, imageProviderKinds } from '../../providers/registry.ts';
import type { ImageProvider, ImageProviderKind } from '../../providers/image-provider.ts';
import type { OwnKey } from '../../domain/keys/api-key.ts';
import { digestOfAddress } from '../../domain/keys/own-keys.ts';
import type { Clock } from '../../lib/clock.ts';
import { isInside } from '../../lib/public-hosts.ts';
import type { Credential, CredentialTools } from '../../providers/credential.ts';
import type { HttpProviderKind, ProviderPlace } from '../../providers/provider.ts';
import { credentialTools } from '../calling/credential-tools.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { HostWishes } from '../../terms/host-wishes.ts';
import type { Secret } from '../../lib/secrets.ts';
import { createEndUsers } from './end-users.ts';
import type { UpstreamProvider } from '../../providers/upstream-call.ts';

type ProviderEntry = Config['providers'][string];

export type ConnectedProvider = UpstreamProvider & {
  readonly kind: HttpProviderKind;
  /** null: the provider wants none, or its credential authorizes each call. */
  readonly apiKey: string | null;
  readonly place: ProviderPlace;
  readonly timeouts: ProviderTimeouts;
  /** Unknown request fields that are passed on to this provider. */
  readonly passFields: ReadonlySet<string>;
  /** Fields of earlier answers that its Chat refuses. */
  readonly refusedHistory: readonly string[];
  /** What its host wants otherwise than others of its format. */
  readonly wishes: HostWishes;
  /** Its own batch API; null: none that we know. */
  readonly batches: BatchHost | null;
  /** True when it gets a prompt-cache salt for each account. */
  readonly takesCacheSalt: boolean;
  /** It stands in the operator's own network, and may fetch addresses there. */
  readonly isInside: boolean;
  /** Prices of the searches that it runs. */
  readonly pricing: Pick<ProviderEntry, 'kind' | 'tool_prices'>;
};

export type ConnectedImageProvider = ImageProvider & { readonly kind: ImageProviderKind };

export type ConnectedProviders = ReturnType<typeof connectProviders>;

type Connecting = {
  readonly secret: Secret;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
};

export function connectProviders(config: Config, parts: Connecting) {
  const byName = new Map<string, ConnectedProvider>();
  const played = new Map<string, ConnectedProvider>();
  const images = new Map<string, ConnectedImageProvider>();
  for (const [name, provider] of Object.entries({ ...unconfigured, ...config.providers })) {
    const connected = connect(name, provider, config);
    if (connected) played.set(name, connected);
    if (!provider.enabled) continue;
    const access = accessBy(provider, credentialTools(name, parts));
    if (connected) byName.set(name, { ...connected, ...access });
    const imageProvider = connectImages(name, provider);
    if (imageProvider) images.set(name, { ...imageProvider, ...access });
  }
  return {
    /** Providers of chat models. */
    byName,
    /** Providers that the sandbox plays for test keys: all known ones, without credentials. */
    played,
    /** Providers of images; a provider can be both. */
    images,
    /** How end users are named to all of them. */
    endUsers: createEndUsers(parts.secret),
    ...connectOwnKeys(config, { byName, images }, parts),
  };
}

/** The own keys that a thread remembers with their tokens and connections. */
const ownKeysMax = 5_000;

type OwnConnection = {
  readonly name: string;
  /** null: it has no models of this kind. */
  readonly chat: ConnectedProvider | null;
  readonly images: ConnectedImageProvider | null;
};

function connectOwnKeys(
  { providers }: Config,
  operators: {
    readonly byName: ReadonlyMap<string, ConnectedProvider>;
    readonly images: ReadonlyMap<string, ConnectedImageProvider>;
  },
  parts: Connecting,
) {
  const connected = new LRUCache<string, OwnConnection>({
    max: ownKeysMax,
    dispose: ({ name }, id) => parts.upstreams.retire(name, id),
  });
  /**
   * Returns the provider with an account's own key in the place of the operator's credential; null
   * when the operator does not allow that there, or has moved the provider since it was saved.
   */
  const withOwnKey = ({ id, provider, apiKey, addressDigest }: OwnKey): OwnConnection | null => {
    const known = connected.get(id);
    if (known) return known;
    const chat = operators.byName.get(provider) ?? null;
    const images = operators.images.get(provider) ?? null;
    const entry = providers[provider];
    if (!(chat ?? images) || !entry?.accounts_may_bring_keys) return null;
    if (digestOfAddress(entry.base_url) !== addressDigest) return null;
    const name = ownKeyName(provider);
    const tools = { ...credentialTools(name, parts), ...withoutMachine };
    const access = accessBy({ ...entry, api_key: apiKey }, tools);
    const shared = { ...access, name, ownKeyId: id };
    const own = {
      name,
      chat: chat && { ...chat, ...shared },
      images: images && { ...images, ...shared },
    };
    connected.set(id, own);
    return own;
  };
  /** Closes the connections of own keys. */
  const retireOwnKeys = () => connected.clear();
  return { withOwnKey, retireOwnKeys };
}

/** An account's key must not reach what is the machine's, whatever it says. */
const withoutMachine: Pick<CredentialTools, 'env' | 'readFile'> = {
  env: {},
  readFile: () => Promise.reject(new Error('accounts have no files here')),
};

type Access = { readonly apiKey: string | null; readonly credential: Credential | null };

/** Returns the key, or the credential that is made of it. */
export function accessBy(provider: ProviderEntry, tools: CredentialTools): Access {
  const { kind, api_key: apiKey } = provider;
  const open = isChatKind(kind) ? chatProviderKinds[kind].openCredential : undefined;
  const credential = (apiKey !== null && open?.(apiKey, placeOf(provider), tools)) || null;
  return { apiKey: credential ? null : apiKey, credential };
}

export function placeOf({
  region,
  project,
  api_version: apiVersion,
}: Pick<ProviderEntry, 'region' | 'project' | 'api_version'>): ProviderPlace {
  return { region, project, apiVersion };
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
      base_url: typeof baseUrl === 'string' ? baseUrl : '',
      api_key: null,
      timeouts: { connect_ms: 1, total_ms: 1 },
      ...usualSettings,
    },
  ]),
);

/** Returns null for a kind without chat models. */
function connect(
  name: string,
  provider: ProviderEntry,
  { tuning }: Config,
): ConnectedProvider | null {
  const { kind, base_url: baseUrl, timeouts } = provider;
  if (!isChatKind(kind)) return null;
  const known = findKnownProvider(name, provider);
  const place = placeOf(provider);
  const wishes = { ...(provider.completions && { completions: {} }), ...known?.wishes };
  const { batch_bucket: bucket, batch_role: role } = provider;
  const linesMin = tuning.bedrockLinesMin;
  const cloud = bucket === null ? null : { bucket, role, place, baseUrl, linesMin };
  return {
    name,
    baseUrl,
    apiKey: null,
    place,
    timeouts,
    kind: chatProviderKinds[kind],
    passFields: new Set(provider.pass_fields),
    refusedHistory: known?.refusedHistory ?? [],
    wishes,
    batches: batchHostOf({ kind, wishes, cloud }),
    takesCacheSalt: provider.cache_salt,
    isInside: URL.canParse(baseUrl) && isInside(new URL(baseUrl)),
    pricing: provider,
  };
}

/** Returns null for a kind without images. */
function connectImages(name: string, provider: ProviderEntry): ConnectedImageProvider | null {
  const { kind, base_url: baseUrl } = provider;
  if (!isImageKind(kind)) return null;
  // A whole image arrives after a minute or two of silence.
  const { long } = silenceDefaultsMs;
  const timeouts = { first_byte_ms: long, idle_ms: long, ...provider.timeouts };
  return { name, baseUrl, apiKey: null, timeouts, kind: imageProviderKinds[kind] };
}
