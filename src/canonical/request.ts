// A model request in the gateway's own terms. When client and upstream formats differ, the client's
// format is read into it and the upstream's written from it. Equal formats never use it (the
// straight path).

import type { Citation } from './citation.ts';

export type CanonicalRequest = {
  /** Instructions ahead of the conversation. */
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly seed: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  readonly stopSequences: readonly string[];
  readonly reasoning: Reasoning | null;
  readonly outputFormat: OutputFormat;
  /** The caller's opaque id of its own user. */
  readonly endUser: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly promptCacheKey: string | null;
  /** How long OpenAI keeps the prompt, in its words. Left out: as it likes. */
  readonly promptCacheRetention?: string;
  /** How long the text of the answer should be. */
  readonly verbosity?: Verbosity;
  /** The last message is the beginning of the answer, which goes on from there: Messages' prefill. */
  readonly isPrefilled?: true;
};

export type Verbosity = 'low' | 'medium' | 'high';

export type Message =
  | { readonly role: 'system'; readonly content: readonly TextPart[] }
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

export type UserPart = TextPart | ImagePart | DocumentPart;
/** Images are only in answers: they do not come back with the conversation. */
export type AssistantPart = SpokenPart | ImagePart;
export type SpokenPart = TextPart | ThinkingPart | ToolCallPart | RefusalPart;

export type TextPart = {
  readonly type: 'text';
  readonly text: string;
  /** Citations of the assistant's text; left out when there are none. */
  readonly citations?: readonly Citation[];
  readonly cacheControl?: CacheControl;
  /** Its answer began with it, behind another answer: Chat joins texts, but not these words. */
  readonly beginsAnswer?: true;
};
export type ImagePart = {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: string;
  readonly cacheControl?: CacheControl;
};
export type DocumentPart = {
  readonly type: 'document';
  readonly source: MediaSource;
  readonly name?: string;
  readonly cacheControl?: CacheControl;
};
type RefusalPart = { readonly type: 'refusal'; readonly text: string };

export type MediaSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string };

/**
 * Reasoning of an earlier turn. `signature` is opaque and goes back, byte for byte, only to the
 * vendor that made it.
 */
export type ThinkingPart = {
  readonly type: 'thinking';
  readonly text: string;
  readonly signature: Signature | null;
  /** The vendor hid the text: only the signature counts. */
  readonly redacted: boolean;
};
export type Signature = { readonly vendor: Vendor; readonly value: string };
export type Vendor = 'anthropic' | 'openai' | 'google' | 'xai' | 'moonshot';

export type ToolCallPart = {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON text for a function, free text for a custom tool. */
  readonly arguments: string;
  readonly kind: 'function' | 'custom';
  readonly cacheControl?: CacheControl;
};
export type ToolResultPart = {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly content: readonly (TextPart | ImagePart | DocumentPart)[];
  readonly isError: boolean;
  readonly cacheControl?: CacheControl;
};

export type Tool = {
  readonly name: string;
  readonly description: string | null;
  /** A JSON schema; null for a custom (free-form) tool. */
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
  readonly kind: 'function' | 'custom';
  /** The format that a custom tool's input must match; a function has none. */
  readonly grammar?: Grammar;
  readonly cacheControl?: CacheControl;
};
export type Grammar = { readonly syntax: string; readonly definition: string };
export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'required' }
  | { readonly type: 'none' }
  | { readonly type: 'tool'; readonly name: string };

/** The levels in order; the three of the spec are in the middle. */
export const effortLevels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof effortLevels)[number];
/** The caller sets at most one of the two. `budgetTokens` counts towards the output limit. */
export type Reasoning = { readonly effort: Effort | null; readonly budgetTokens: number | null };

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** An Anthropic prompt-cache mark; other vendors cache by themselves. */
export type CacheControl = { readonly type: 'ephemeral'; readonly ttl?: '5m' | '1h' };

/** A request without content, for those that set only a few fields. */
export const emptyRequest: CanonicalRequest = {
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  frequencyPenalty: null,
  presencePenalty: null,
  stopSequences: [],
  reasoning: null,
  outputFormat: { type: 'text' },
  endUser: null,
  metadata: null,
  promptCacheKey: null,
};
