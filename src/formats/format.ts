// What a wire format is to the gateway. A client format reads requests and writes answers; an upstream format writes requests and
// reads answers; a relay is the straight path, when both sides speak the same one. All of it is pure: values in, values out.
import type { Answer } from '../canonical/answer.ts';
import type { ApiError } from '../canonical/errors.ts';
import type { StreamEvent, Stop, UpstreamFailure } from '../canonical/event.ts';
import type { ClientFormatName, UpstreamFormatName } from '../canonical/format-name.ts';
import type { OutputMeter } from '../canonical/output-bytes.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { Usage } from '../canonical/usage.ts';
import type { SearchTool } from '../canonical/web-search.ts';
import type { SseEvent } from '../lib/sse.ts';
import type { BilledAnswer } from './billed-answer.ts';
import type { FieldNames } from './client-words.ts';
import type { OpenedFields } from './field-verdicts.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Limits of the configuration that a format's validation enforces. */
export type RequestLimits = {
  /** The bound on Chat's `max_tokens`; null: none. */
  readonly chatMaxTokens: number | null;
};

/** A validated request: the body as it came, unknown fields included, and what the gateway must know of it. */
export type ClientRequest = {
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  /** The caller's own maximum; null when it gave none. */
  readonly maxOutputTokens: number | null;
  /** How many answers are asked for (Chat's `n`); each may use the maximum. */
  readonly choices: number;
  /** Tokens of the maximum that the caller set aside for thinking; 0 for none. */
  readonly thinkingBudgetTokens: number;
};

/** What an answer is written with, beside its content. */
export type AnswerContext = {
  /** The gateway's id of the request, without a prefix: each format makes its own ids from it. */
  readonly requestId: string;
  /** The catalogue's id of the model. */
  readonly model: string;
  readonly createdAtSeconds: number;
  readonly request: ClientRequest;
  /** Our estimate of the input, for formats that state it before the upstream does. */
  readonly estimatedInputTokens: number;
};

export type ClientFormat = {
  readonly name: ClientFormatName;
  /** Throws ApiError `invalid_request` that names the field. Unknown fields fail later, where it is known which are opened. */
  readonly parseRequest: (body: unknown, limits: RequestLimits) => ClientRequest;
  /** For translation. Throws ApiError `invalid_request` on what no canonical request can express, and on fields that nobody knows but
   * those that are opened. */
  readonly readRequest: (request: ClientRequest, opened?: OpenedFields) => CanonicalRequest;
  /** Harmless fields that `readRequest` leaves out because no canonical request has them: listed in `X-<name>-Ignored` beside the
   * writer's. */
  readonly ignoredFields?: (request: ClientRequest) => readonly string[];
  /** Fields that it names otherwise than Chat, for refusals by an upstream's format. */
  readonly fieldNames?: FieldNames;
  readonly writeAnswer: (answer: Answer, context: AnswerContext) => JsonObject;
  readonly writeStream: (context: AnswerContext) => StreamPipe<StreamEvent>;
  /** A frame that says nothing, for a stream that has begun and fallen silent. */
  readonly keepAlive: string;
  /** What it calls its output limit; where it has two names, the present one. */
  readonly outputLimitField: string;
  /** The body of an error answer. */
  readonly writeError: (error: ApiError, requestId: string) => JsonObject;
  readonly relay: Relay;
};

export type UpstreamFormat = {
  readonly name: UpstreamFormatName;
  /** The least output limit that its hosts take, and so the least that is sent and held; 1 where it says nothing. */
  readonly outputTokensMin?: number;
  readonly writeRequest: (request: CanonicalRequest, target: UpstreamTarget) => UpstreamRequest;
  /** Whether a model that can think may do so when it is sent this request. */
  readonly mayThink: (body: JsonObject) => boolean;
  /** Throws UnreadableAnswer when the JSON is not an answer of this format. */
  readonly readAnswer: (body: unknown) => Answer;
  /** What a whole answer has cost, also where the rest of it cannot be read; null: the body is no answer. */
  readonly readBilledAnswer: (body: unknown) => BilledAnswer | null;
  readonly readStream: () => StreamReader;
};

/** Where a request goes and what it may use there. */
export type UpstreamTarget = {
  /** The upstream's id of the model. */
  readonly model: string;
  readonly stream: boolean;
  /** The output limit to send; every request is sent with one, so that what is held is the most it can cost. */
  readonly maxOutputTokens: number;
  /** Whether the model thinks: effort and budgets are dropped, and listed, where it does not. */
  readonly thinking: boolean;
  /** OpenAI's newer models want `max_completion_tokens`; most other hosts know only `max_tokens`. Chat only. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** The most web searches that the provider may run for it, on the straight path; left out: none, since none has a price. */
  readonly searchesMax?: number;
  /** Fields that the operator lets through though nobody here knows them; left out: none. */
  readonly passFields?: OpenedFields;
};

export type UpstreamRequest = {
  readonly body: JsonObject;
  /** Harmless fields that the target cannot express: listed in `X-<name>-Ignored`. */
  readonly ignored: readonly string[];
};

/** Thrown by readers: the upstream said something that is not of its format. */
export class UnreadableAnswer extends Error {}

/** Reads an upstream's stream. Each call returns the events that are complete now; after `finish` or `error` it returns none. */
export type StreamReader = {
  readonly push: (event: SseEvent) => readonly StreamEvent[];
  /** The upstream closed the connection: a stream without its end becomes an `error` event (kind `broken-stream`). */
  readonly end: () => readonly StreamEvent[];
  /** The latest token counts of the upstream; a half that it has not given is 0. null: it has given none yet. */
  readonly usageSoFar: () => Usage | null;
};

/**
 * Turns a stream that comes in (SSE events on the straight path and in translation, canonical events from the sandbox) into the
 * client's frames. The gateway sends what `push` and `end` return at once, settles the charge when `progress.status` is
 * `finished`, and only then sends `close()`: the frames that tell the client of success.
 */
export type StreamPipe<Input> = {
  /** Frames to send now; '' when there is nothing yet. Once the status is not `running` it returns ''. */
  readonly push: (input: Input) => string;
  /** The upstream closed. Sets the status to `finished` or `failed` if it was still running. */
  readonly end: () => string;
  /** Ends an answer that has begun as at its length limit: what is open is closed, and the status is `finished`. Called while it runs. */
  readonly limit: () => string;
  /** The last frames of a success: `response.completed`, `message_stop`, `[DONE]`. Called once, when finished. `cost` is the SSE comment
   * line to place directly before the format's last event, or '' for none. */
  readonly close: (comment: string) => string;
  /** The format's own error event, which ends a stream that has begun. Sent instead of what `close` gives. */
  readonly fail: (error: ApiError, requestId: string) => string;
  readonly progress: StreamProgress;
};

/** What the gateway knows of a stream while it runs; the pipe updates it in place. */
export type StreamProgress = {
  status: 'running' | 'finished' | 'failed';
  /** The upstream's latest counts, perhaps from the middle of the answer; a half that it has not given is 0. null: it has given none. */
  usage: Usage | null;
  stop: Stop | null;
  /** Text, reasoning and arguments so far: what our own count is made from when the upstream gives none. */
  readonly output: OutputMeter;
  /** Web searches that the provider has run so far, on the straight path; left out: none. */
  searches?: number;
  /** Set when the status is `failed`. */
  failure: UpstreamFailure | null;
};

/** The straight path: same format on both sides; fields that the gateway does not know pass untouched in both directions. */
type Relay = {
  /** The web search that the provider is asked to run; null: none. Throws ApiError on a limit of it that cannot be. */
  readonly searchTool: (request: ClientRequest) => SearchTool | null;
  /** Throws ApiError on what a shared upstream credential must not pass (design: stored state, unpriced options). */
  readonly writeRequest: (request: ClientRequest, target: UpstreamTarget) => UpstreamRequest;
  /** Throws UnreadableAnswer. `body` is what the client gets: the catalogue's model id, the spec's ids. */
  readonly relayAnswer: (body: unknown, context: AnswerContext) => RelayedAnswer;
  readonly relayStream: (context: AnswerContext) => StreamPipe<SseEvent>;
};

export type RelayedAnswer = {
  readonly body: JsonObject;
  /** As the upstream counted; a half that it has not given is 0. null: it has given none. */
  readonly usage: Usage | null;
  readonly stop: Stop | null;
  readonly outputBytes: number;
  /** Web searches that the provider has run; left out: none. */
  readonly searches?: number;
};
