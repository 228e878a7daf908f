// What a provider is: base URL, authentication and quirks as data and small pure functions; the sandbox answers by itself.
// A new provider is one folder and one line in registry.ts.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { UpstreamFormatName } from '../canonical/format-name.ts';
import type { JsonObject, UpstreamTarget } from '../formats/format.ts';
import type { Clock } from '../lib/clock.ts';

/** A provider reached over HTTP with one of the upstream formats. */
export type HttpProviderKind = {
  readonly kind: string;
  readonly transport: 'http';
  /** null: the configuration must give one. Includes `/v1` for the two openai kinds, no version for the others. */
  readonly defaultBaseUrl: string | null;
  /** The formats it speaks, best first. */
  readonly formats: readonly UpstreamFormatName[];
  /** The path below the base URL, for instance `/chat/completions`. */
  readonly path: (format: UpstreamFormatName, target: UpstreamTarget) => string;
  /** Where it counts the input of a request in its first format, free of charge; left out: nowhere. */
  readonly countTokensPath?: string;
  /** Lower-case headers beside content-type; `client` are the lower-case request headers that may matter (anthropic-beta). */
  readonly headers: (apiKey: string | null, client: ForwardableHeaders) => Readonly<Record<string, string>>;
  /** Which field bounds the output in Chat. */
  readonly maxTokensField: UpstreamTarget['maxTokensField'];
  /** Whether it is told which account a request is for, by a digest, so that it can tell one that abuses it from the others. */
  readonly wantsAccount?: true;
  /** Whether it knows custom tools, whose input is free text; elsewhere they are sent as functions. */
  readonly customTools?: boolean;
  /** What the provider's own errors mean, where the status alone misleads. `body`: parsed JSON, or text where it was none. */
  readonly readFailure?: (failure: UpstreamFailure, body: unknown) => UpstreamFailure;
  /** Last changes to a body for this provider; most have none. */
  readonly adaptBody?: (body: JsonObject, format: UpstreamFormatName) => JsonObject;
};

/** The client's headers that a provider may see; nothing else of a client's headers ever goes upstream. */
export type ForwardableHeaders = { readonly 'anthropic-beta'?: string };

/** Answers by itself, offline and deterministic. Yields a failure as an `error` event; `signal` stops its delays. */
export type SandboxProviderKind = {
  readonly kind: 'sandbox';
  readonly transport: 'sandbox';
  readonly run: (request: CanonicalRequest, options: SandboxOptions) => AsyncIterable<StreamEvent>;
  /** The input tokens that `run` would bill. */
  readonly countTokens: (request: CanonicalRequest) => number;
};

export type SandboxOptions = {
  readonly model: string;
  readonly maxOutputTokens: number;
  readonly thinking: boolean;
  readonly signal: AbortSignal;
  /** Times the delays that a request asks for. */
  readonly clock: Clock;
};
