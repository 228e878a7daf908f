// The interface of HTTP providers: base URL, authentication and quirks as data and small pure
// functions. The sandbox simulates their hosts.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { FailedReply } from '../canonical/make-failure.ts';
import type { UpstreamFormatName } from '../terms/format-name.ts';
import type { HostWishes } from '../terms/host-wishes.ts';
import type { ChatKindName } from '../terms/provider-kind.ts';
import type { JsonObject } from '../lib/json.ts';
import type { InputCount, UpstreamTarget } from '../formats/format.ts';
import type { Clock } from '../lib/clock.ts';
import type { Credential, CredentialTools } from './credential.ts';

/** A provider that may do a task in a form of its kind. */
export type HostQuery = { readonly kind: ChatKindName; readonly wishes: HostWishes };

/** Hosts whose form follows from their kind. Left out: it does not do the task. */
export type HostsByKind<Host> = Readonly<Partial<Record<ChatKindName, Host>>>;

/** Where a cloud runs a provider's models. null: not configured. */
export type ProviderPlace = {
  readonly region: string | null;
  readonly project: string | null;
  readonly apiVersion: string | null;
};

/** Returns the headers that have the key, where a vendor's own form has it elsewhere than its kind. */
export type KeyHeaders = (apiKey: string) => Readonly<Record<string, string>>;

/** Where a call for a task goes. */
export type TaskAddress = {
  readonly path: string;
  /** The path is the whole path, not below the base URL's. */
  readonly isAtOrigin?: boolean;
  /** The headers that have the key. Left out: those of its kind. */
  readonly keyHeaders?: KeyHeaders;
};

/** How a written request is sent. */
export type SentAs = {
  readonly format: UpstreamFormatName;
  readonly target: UpstreamTarget;
  readonly client: ForwardableHeaders;
  /** Gets the names of what is left out for this provider. */
  readonly ignored: Set<string>;
};

/** A provider reached over HTTP with one of the upstream formats. */
export type HttpProviderKind = {
  readonly kind: ChatKindName;
  /** The path below the base URL, for instance `/chat/completions`. */
  readonly path: (
    format: UpstreamFormatName,
    target: UpstreamTarget,
    place: ProviderPlace,
  ) => string;
  /**
   * The path that counts a request's input free of charge. null: not in this format. Left out: it
   * has none.
   */
  readonly countTokensPath?: (
    model: string,
    format: UpstreamFormatName,
    place: ProviderPlace,
  ) => string | null;
  /** How it counts, where that differs from the host of the format. Left out: it does not. */
  readonly inputCounts?: Readonly<Partial<Record<UpstreamFormatName, InputCount>>>;
  /** The formats in which it speaks with a model, best first. Left out: all of its kind. */
  readonly formatsOf?: (model: string) => readonly UpstreamFormatName[];
  /**
   * Lower-case headers besides content-type. `apiKey`: null when there is none, or a credential
   * gives the headers. `client`: the client's lower-case headers that may matter (anthropic-beta).
   * `target`: left out when nothing is generated.
   */
  readonly headers: (
    apiKey: string | null,
    client: ForwardableHeaders,
    target?: Pick<UpstreamTarget, 'tier'>,
  ) => Readonly<Record<string, string>>;
  /** The features of `anthropic-beta` that it knows. Left out: it takes any. */
  readonly betas?: ReadonlySet<string>;
  /** True for OpenAI's own API, whose Chat differs from that of other hosts. Left out: another. */
  readonly isOpenAi?: true;
  /**
   * Sends a digest of the account, so that the provider can tell an abusive account from the
   * others.
   */
  readonly wantsAccount?: true;
  /**
   * True when it supports custom tools, whose input is free text; other providers get them as
   * functions.
   */
  readonly customTools?: boolean;
  /**
   * Corrects the provider's own errors when the status alone misleads. `body`: parsed JSON, or
   * text.
   */
  readonly readFailure?: (failure: UpstreamFailure, body: unknown) => UpstreamFailure;
  /** Last changes to the body for this provider; most need none. */
  readonly adaptBody?: (body: JsonObject, sent: SentAs) => JsonObject;
  /** Returns a whole answer in the format's words, without what is not for clients. Left out: it is so. */
  readonly shownAnswer?: (body: unknown) => unknown;
  /**
   * Turns a stream in another encoding into server-sent events, without what is not for clients. It
   * throws UpstreamBroken.
   */
  readonly toServerSentEvents?: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /**
   * For a key that signs requests, or is exchanged for tokens. Returns null for one that is sent as
   * it is.
   */
  readonly openCredential?: (
    apiKey: string,
    place: ProviderPlace,
    tools: CredentialTools,
  ) => Credential | null;
};

/** The client's headers that a provider may see. No other client header goes upstream. */
export type ForwardableHeaders = { readonly 'anthropic-beta'?: string };

/** A request as a host would get it; the sandbox answers in the host's place. */
export type SandboxCall = SandboxOptions & {
  readonly format: UpstreamFormatName;
  /** The JSON written for the host. */
  readonly body: string;
  /** The answer's ids derive from it. */
  readonly requestId: string;
};

export type SandboxOptions = {
  /** The host's id for the model. */
  readonly model: string;
  /** A longer prompt is refused. */
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  readonly thinking: boolean;
  readonly stream: boolean;
  /** Ends delays. */
  readonly signal: AbortSignal;
  /** Times the requested delays. */
  readonly clock: Clock;
};

/**
 * The result of the call, as over HTTP. The chunks throw UpstreamBroken when the stream breaks off.
 */
export type SandboxReply =
  | { readonly kind: 'answer'; readonly body: JsonObject }
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> }
  | FailedReply;
