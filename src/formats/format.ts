// The interface of a wire format. A client format reads requests and writes answers. An upstream
// format writes requests and reads answers. A relay is the straight path, used when both sides
// speak the same format. All functions are pure: values in, values out.
import type { Answer } from '../canonical/answer.ts';
import type { Emulated } from './adapting/emulated.ts';
import type { ApiError, ErrorContext } from '../canonical/errors.ts';
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import type { Stop } from '../canonical/stop.ts';
import type { CacheMarks } from '../terms/prompt-cache.ts';
import type { ClientFormatName, UpstreamFormatName } from '../terms/format-name.ts';
import type { AnswerPart } from '../canonical/own-tools.ts';
import type { OutputMeter } from '../canonical/output-bytes.ts';
import type { AssistantPart, CanonicalRequest } from '../canonical/request.ts';
import type { ServiceTier } from '../canonical/service-tier.ts';
import type { Usage, UsageMax } from '../canonical/usage.ts';
import type { CompletionWishes, PrefillWishes } from '../terms/host-wishes.ts';
import type { SearchTool } from '../terms/web-search.ts';
import type { JsonObject } from '../lib/json.ts';
import type { SseEvent } from '../lib/sse.ts';
import type { BilledAnswer } from './billed-answer.ts';
import type { FieldNames } from './client-words.ts';
import type { Hiding } from './hide-users.ts';
import type { UnknownFields } from './field-verdicts.ts';
import type { ToolNameRule, ToolNames } from './tool-names.ts';

/** Configured limits that a format's validation enforces. */
export type RequestLimits = {
  /** The maximum of Chat's `max_tokens`; null: none. */
  readonly chatMaxTokens: number | null;
};

/**
 * A validated request: the client's body, unknown fields included, and the values in it that the
 * gateway needs. `Body`: what the format's schema has proved about the body.
 */
export type ClientRequest<Body = unknown> = {
  readonly body: JsonObject & Body;
  readonly model: string;
  readonly stream: boolean;
  /** The client's own maximum; null when it set none. */
  readonly maxOutputTokens: number | null;
  /** The number of answers requested (Chat's `n`) of all prompts; each may use the maximum. */
  readonly choices: number;
  /** Prompts that are answered one by one: each has the model's context. Left out: 1. */
  readonly prompts?: number;
  /** Input beside the body's texts, counted by the client: lists of tokens. Left out: 0. */
  readonly addedTokens?: number;
  /** Tokens of the maximum that the client reserves for thinking; 0: none. */
  readonly thinkingBudgetTokens: number;
  /** The service tier that it asks for. Left out: the standard one. */
  readonly tier?: ServiceTier | undefined;
  /** The body as it came, where parsing made another of it. */
  readonly given?: JsonObject;
  /** Fields that parsing left out, to be listed. Left out: none. */
  readonly ignored?: readonly string[];
  /** Nothing is to be generated. Left out: false. */
  readonly isWarmUp?: boolean;
  /** A text that is added to each prompt. Left out: none. */
  readonly addedText?: string;
};

/** What a writer needs beside the answer's content. */
export type AnswerContext = {
  /** The gateway's request id without a prefix; each format derives its own ids from it. */
  readonly requestId: string;
  /** The catalogue's model id. */
  readonly model: string;
  readonly createdAtSeconds: number;
  /** Absent: `createdAtSeconds` is also the time of completion. */
  readonly nowSeconds?: () => number;
  readonly request: ClientRequest;
  /** Unknown fields of the request that were left out. Absent: none. */
  readonly leftOut?: readonly string[];
  /** As of the UpstreamRequest, for the straight path. */
  readonly toolNames?: ToolNames | null;
  /** Our estimate of the input tokens, for formats that report them before the upstream does. */
  readonly estimatedInputTokens: number;
  /** The sound in it, if that has a price of its own. Left out: none. */
  readonly estimatedAudioTokens?: number;
  /** The upstream's usage is shown up to this, as it is charged. Absent: as reported. */
  readonly usageMax?: UsageMax;
};

/**
 * Functions that take a request are methods, so that a format may implement them for its own type of
 * body: they are only called with requests that it parsed.
 */
export type ClientFormat = {
  readonly name: ClientFormatName;
  /** Its name in usage records. Left out: `name`. */
  readonly endpoint?: string;
  /** What it always emulates. Left out: nothing. */
  readonly emulates?: Emulated;
  /** Reads what it writes, for traces. Left out: the upstream format of its name does. */
  readonly answerReader?: AnswerReader;
  /**
   * Throws ApiError `invalid_request` that names the field. Unknown fields are left out later, when
   * the route and its opened fields are known.
   */
  readonly parseRequest: (body: unknown, limits: RequestLimits) => ClientRequest;
  /**
   * For translation. Throws ApiError `invalid_request` on what the canonical request cannot
   * express.
   */
  readRequest(request: ClientRequest, unknown?: UnknownFields): CanonicalRequest;
  /**
   * Harmless fields that `readRequest` leaves out because the canonical request lacks them. Listed
   * in `X-<name>-Ignored` with those of the writer.
   */
  ignoredFields?(request: ClientRequest): readonly string[];
  /** Fields that this format names differently from Chat, for refusals by an upstream's format. */
  readonly fieldNames?: FieldNames;
  /** The field of a whole answer that holds its usage. Left out: `usage`. */
  readonly usageField?: string;
  readonly writeAnswer: (answer: Answer<AnswerPart>, context: AnswerContext) => JsonObject;
  readonly writeStream: (context: AnswerContext) => StreamPipe<StreamEvent>;
  /** The content type of its streams. Left out: server-sent events. */
  readonly streamType?: string;
  /** A frame without content, which keeps a silent stream open. */
  readonly keepAlive: string;
  /** The same before the first frame. Left out: a comment. */
  readonly openingKeepAlive?: string;
  /**
   * The name of the output limit in this request. When the format has two names and neither was
   * sent, the current one.
   */
  readonly outputLimitField: (body: JsonObject) => string;
  readonly writeError: (error: ApiError, context: ErrorContext) => JsonObject;
  /** Returns true for an error that the client knows in a stream only. Left out: never. */
  readonly failsInStream?: (error: ApiError, request: ClientRequest) => boolean;
  readonly relay: Relay;
};

export type AnswerReader = Pick<UpstreamFormat, 'readAnswer' | 'readStream'> & {
  /** Returns the events of frames that a client gets. Left out: they are server-sent events. */
  readonly readFrames?: (frames: string) => readonly SseEvent[];
};

export type UpstreamFormat = {
  readonly name: UpstreamFormatName;
  /**
   * The lowest output limit that its hosts accept, and so the lowest that is sent and held.
   * Default: 1.
   */
  readonly outputTokensMin?: number;
  /** The tool names that its hosts accept. */
  readonly toolNames: ToolNameRule;
  readonly writeRequest: (request: CanonicalRequest, target: UpstreamTarget) => UpstreamRequest;
  /** Replaces the names of users and caches in a written body by digests. */
  readonly hideUsers: (body: JsonObject, hiding: Hiding) => JsonObject;
  /** Returns true when a model that can think may do so for this request. */
  readonly mayThink: (body: JsonObject) => boolean;
  /** Throws UnreadableAnswer when the JSON is not an answer of this format. */
  readonly readAnswer: (body: unknown) => Answer;
  /**
   * Reads what a whole answer has cost, even when the rest cannot be read. Returns null when the
   * body is no answer.
   */
  readonly readBilledAnswer: (body: unknown) => BilledAnswer | null;
  readonly readStream: () => StreamReader;
  /**
   * Returns a written body without what the host has just refused with this body of a 400. Returns
   * null when the refusal is about something else. Left out: always.
   */
  readonly withoutRefused?: (body: JsonObject, refusal: unknown) => Lightened | null;
  /**
   * Asks a host for the input tokens of a request. Left out: no host of this format counts without
   * running the request.
   */
  readonly inputCount?: InputCount;
};

/** A request without something that its host refused. */
export type Lightened = {
  readonly body: JsonObject;
  readonly ignored: readonly string[];
  /** The host will refuse it in other requests too. */
  readonly isLasting?: boolean;
};

export type InputCount = {
  /** `body`: the request as it would run. */
  readonly write: (body: JsonObject, model: string) => JsonObject;
  /** Returns null when the answer is no count. */
  readonly read: (answer: unknown) => number | null;
};

/** Where a request goes and what it may use there. */
export type UpstreamTarget = {
  /** The upstream's model id. */
  readonly model: string;
  readonly stream: boolean;
  /**
   * The output limit to send. Every request has one, so that the hold covers the highest possible
   * cost.
   */
  readonly maxOutputTokens: number;
  /** When false, effort and budgets are dropped and listed as ignored. */
  readonly thinking: boolean;
  /** True when the host has refused summaries of reasoning. */
  readonly refusesSummaries?: boolean;
  /** True for OpenAI's own API, false for other hosts, several of which refuse unknown fields. */
  readonly isOpenAi: boolean;
  /**
   * Fields of earlier answers that the host refuses in Chat, besides the reasoning that OpenAI
   * refuses. Left out: none.
   */
  readonly refusedHistory?: readonly string[];
  /** True when the host refuses stop sequences, which the gateway then searches for itself. */
  readonly refusesStop?: boolean;
  /**
   * The most web searches that the provider may run, on the straight path. Left out: none, because
   * they have no price.
   */
  readonly searchesMax?: number;
  /**
   * The likely input tokens of a prompt that may be marked for the host's cache, when its client
   * cannot mark it. Left out: it may not.
   */
  readonly cacheableTokens?: number;
  /** Left out: the standard one. */
  readonly tier?: ServiceTier;
  readonly unknown?: UnknownFields;
  /** How the host goes on from the beginning of an answer. Left out: without a mark. */
  readonly prefill?: PrefillWishes;
  /** How the host continues prompts. Left out: not at all. */
  readonly completions?: CompletionWishes;
};

export type UpstreamRequest = {
  readonly body: JsonObject;
  /** Harmless fields that the target cannot express: listed in `X-<name>-Ignored`. */
  readonly ignored: readonly string[];
  /** Left out: nothing. */
  readonly emulated?: Emulated;
  /** Who marked the prompt for the host's cache; left out: it caches without marks. */
  readonly cacheMarks?: CacheMarks;
  /** The names under which tools are sent. Left out or null: the client's own. */
  readonly toolNames?: ToolNames | null;
  /** Left out: the path of the format. */
  readonly at?: { readonly path: string; readonly isAtOrigin?: boolean };
};

/** Thrown by readers when the upstream's answer does not follow its format. */
export class UnreadableAnswer extends Error {
  /** As that of `Stop`. */
  readonly brokeOff: string | undefined;

  constructor(message: string, brokeOff?: string) {
    super(message);
    this.brokeOff = brokeOff;
  }
}

/** The host says that it broke off before the model wrote anything. */
export class BrokenOffAnswer extends UnreadableAnswer {}

/**
 * Reads an upstream's stream. Each call returns the events that are now complete. After `finish` or
 * `error` it returns none.
 */
export type StreamReader = {
  readonly push: (event: SseEvent) => readonly StreamEvent[];
  /**
   * Called when the upstream closed the connection. A stream without its end becomes an `error`
   * event (kind `broken-stream`).
   */
  readonly end: () => readonly StreamEvent[];
  /**
   * The upstream's latest token counts; input or output that it has not reported is 0. null: it has
   * reported neither.
   */
  readonly usageSoFar: Usage | null;
  /** As `StreamProgress.isComplete`. Left out: the last event always ends the stream. */
  readonly isComplete?: boolean;
};

/**
 * Turns incoming events into the client's frames: SSE events on the straight path and in
 * translation, canonical events in a format's writer. The gateway sends what `push` and `end`
 * return at once, settles the charge when `progress.status` is `finished`, and only then sends the
 * result of `close()`, which reports success to the client.
 */
export type StreamPipe<Input> = {
  /**
   * Returns the frames to send now, '' when there are none. Always '' once the status is not
   * `running`.
   */
  readonly push: (input: Input) => string;
  /**
   * Called when the upstream closed. Sets the status to `finished` or `failed` if it was `running`.
   */
  readonly end: () => string;
  /**
   * Ends a running answer as if it had reached its length limit: closes what is open and sets the
   * status to `finished`.
   */
  readonly limit: () => string;
  /**
   * Returns the last frames of a success, from the usage on: `response.completed`; `message_delta`
   * and `message_stop`; Chat's usage and `[DONE]`. `costUsd` goes into that usage. Call it when
   * finished. It changes nothing, so the sent and the stored frames can differ in the cost.
   */
  readonly close: (costUsd: number) => string;
  /**
   * Returns the format's own error event, which ends a stream that has begun. Replaces the frames
   * of `close`.
   */
  readonly fail: (error: ApiError, context: ErrorContext) => string;
  readonly progress: StreamProgress;
};

/** The state of a running stream; the pipe updates it in place. */
export type StreamProgress = {
  status: 'running' | 'finished' | 'failed';
  /**
   * The upstream's latest counts, possibly from the middle of the answer; input or output that it
   * has not reported is 0. null: it has reported neither.
   */
  usage: Usage | null;
  /**
   * The upstream has sent its stop reason and its final usage. More may follow, but silence is no
   * output, and the end of the connection, however it comes, is the end of a success.
   */
  isComplete?: boolean;
  stop: Stop | null;
  /**
   * Text, reasoning and arguments so far. Our own count is made from them when the upstream reports
   * none.
   */
  readonly output: OutputMeter;
  /** Web searches that the provider has run so far, on the straight path. Left out: none. */
  searches?: number;
  /** Code that the provider has run so far, on the straight path. Left out: none. */
  codeRuns?: number;
  /** Pages that the provider has fetched and not counted yet, on the straight path. Left out: none. */
  pages?: number;
  /**
   * Nothing of the answer has come, not even a call: the frames so far only open the stream. They
   * may wait, so that a failure can still be followed by another call. Left out: no event has come, or
   * the format passes its first event on at once.
   */
  isOpening?: boolean;
  /**
   * A stop sequence was found. The client gets no more; the upstream is read on for its usage only.
   */
  isCut?: true;
  /**
   * A cut answer that ended before the upstream's own end: its usage may be missing or incomplete.
   */
  isCutShort?: true;
  /** Set when the status is `failed`. */
  failure: UpstreamFailure | null;
};

/**
 * The straight path: the same format on both sides. Unknown fields of answers pass unchanged; those
 * of requests need `pass_fields`.
 */
type Relay = {
  /**
   * Returns the web search that the provider is asked to run; null: none. Throws ApiError on an
   * impossible limit.
   */
  readonly searchTool: (request: ClientRequest) => SearchTool | null;
  /** Returns true for a model of OpenAI's that refuses the search. Left out: all search. */
  readonly lacksSearch?: (model: string) => boolean;
  /**
   * Returns true when the provider is asked to run code or fetch pages, whose text the model reads as
   * input: as much as fits into its context, in several rounds. Left out: never.
   */
  readsMore?(request: ClientRequest): boolean;
  /**
   * Returns false when something must be emulated in the answer: then the request is translated, from
   * its format to the same format. Left out: never.
   */
  canRelay?(request: ClientRequest, target: UpstreamTarget): boolean;
  /**
   * Throws ApiError on what a shared credential must not pass: stored state and options without a
   * price.
   */
  writeRequest(request: ClientRequest, target: UpstreamTarget): UpstreamRequest;
  /** Throws UnreadableAnswer. */
  readonly relayAnswer: (body: unknown, context: AnswerContext) => RelayedAnswer;
  readonly relayStream: (context: AnswerContext) => StreamPipe<SseEvent>;
};

export type RelayedAnswer = {
  /**
   * What the client gets, with the catalogue's model id and the specification's ids. Its `usage` is
   * an object without a cost.
   */
  readonly body: JsonObject;
  /**
   * The upstream's counts; input or output that it has not reported is 0. null: it has reported
   * neither.
   */
  readonly usage: Usage | null;
  readonly stop: Stop | null;
  readonly outputBytes: number;
  /** The parts of a translated answer. Left out: it was relayed. */
  readonly content?: readonly AssistantPart[];
  /** Web searches that the provider has run. Left out: none. */
  readonly searches?: number;
};
