// Provider answers in the wire formats, whole and streamed, built from a text and its usage.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { answerJson, answerSse, type Script, type SseFrame } from './upstream.ts';

/** Tokens in disjoint buckets. Each wire format groups them differently. */
export type Tokens = {
  /** Input tokens neither read from nor written to the prompt cache. */
  readonly input: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  /** The part of `input` that is sound. Responses, Messages and Converse do not count it. */
  readonly audio?: number;
  readonly output: number;
  /** Input beside the prompt, of code that Google ran. */
  readonly toolUse?: number;
};

const none = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, audio: 0, toolUse: 0 };

export type Content = { readonly text: string; readonly tokens: Tokens | null };

export type WireName = 'responses' | 'chat' | 'messages';
/** The upstream formats whose streams are server-sent events. */
export type UpstreamWireName = WireName | 'gemini';

/** The frames of a stream, split where tests cut it. */
export type StreamFrames = {
  readonly start: readonly SseFrame[];
  /** One frame per word. */
  readonly deltas: readonly SseFrame[];
  readonly end: readonly SseFrame[];
};

const wires: Readonly<
  Record<
    UpstreamFormatName,
    {
      readonly whole: (content: Content) => object;
      readonly frames: (content: Content) => StreamFrames;
    }
  >
> = {
  responses: { whole: responseBody, frames: responseFrames },
  chat: { whole: chatBody, frames: chatFrames },
  messages: { whole: messageBody, frames: messageFrames },
  gemini: { whole: geminiBody, frames: geminiFrames },
  converse: { whole: converseBody, frames: converseFrames },
};

export function wholeAnswer(wire: UpstreamFormatName, content: Content): object {
  return wires[wire].whole(content);
}

export function streamFrames(wire: UpstreamFormatName, content: Content): StreamFrames {
  return wires[wire].frames(content);
}

/** Plays the content as a whole answer or as a stream, as the request asks. */
export function answerContent(
  wire: UpstreamWireName,
  content: Content,
  { paceMs = 0 }: { paceMs?: number } = {},
): Script {
  const whole = answerJson(wholeAnswer(wire, content));
  const { start, deltas, end } = streamFrames(wire, content);
  const stream = answerSse([...start, ...deltas, ...end], { paceMs });
  return (response, request) => (asksForStream(request) ? stream : whole)(response, request);
}

/** A Gemini request asks for a stream in its path. */
export function asksForStream({ path, body }: Parameters<Script>[1]): boolean {
  return path.endsWith(':streamGenerateContent') || (body as { stream?: boolean }).stream === true;
}

function wordsOf(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

const createdSeconds = 1_790_000_000;

function responseBody({ text, tokens }: Content): object {
  return {
    ...responseHead('completed'),
    output: [responseItem('completed', [{ type: 'output_text', text, annotations: [] }])],
    usage: tokens && responseUsage(tokens),
  };
}

function responseHead(status: string): object {
  return {
    id: 'resp_upstream1',
    object: 'response',
    created_at: createdSeconds,
    status,
    error: null,
    incomplete_details: null,
    model: 'upstream-model-2026-01-01',
    store: false,
    output: [],
  };
}

function responseItem(status: string, content: readonly object[]): object {
  return { id: 'msg_upstream1', type: 'message', status, role: 'assistant', content };
}

function responseUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = { ...none, ...tokens };
  const inputTokens = input + cacheRead + cacheWrite + cacheWrite1h;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite + cacheWrite1h,
      ...(cacheWrite1h === 0
        ? {}
        : { cache_write_tokens_details: { ttl_12h_tokens: cacheWrite1h } }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + output,
  };
}

function responseFrames(content: Content): StreamFrames {
  let sequence = 0;
  const frame = (type: string, fields: object): SseFrame => ({
    event: type,
    data: { type, sequence_number: sequence++, ...fields },
  });
  const place = { item_id: 'msg_upstream1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: content.text, annotations: [] };
  const start = [
    frame('response.created', { response: responseHead('in_progress') }),
    frame('response.in_progress', { response: responseHead('in_progress') }),
    frame('response.output_item.added', { output_index: 0, item: responseItem('in_progress', []) }),
    frame('response.content_part.added', { ...place, part: { ...part, text: '' } }),
  ];
  const deltas = wordsOf(content.text).map((delta) =>
    frame('response.output_text.delta', { ...place, delta }),
  );
  const end = [
    frame('response.output_text.done', { ...place, text: content.text }),
    frame('response.content_part.done', { ...place, part }),
    frame('response.output_item.done', {
      output_index: 0,
      item: responseItem('completed', [part]),
    }),
    frame('response.completed', { response: responseBody(content) }),
  ];
  return { start, deltas, end };
}

function chatBody({ text, tokens }: Content): object {
  return {
    id: 'chatcmpl-upstream1',
    object: 'chat.completion',
    created: createdSeconds,
    model: 'upstream-model-2026-01-01',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    ...(tokens && { usage: chatUsage(tokens) }),
  };
}

function chatUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWrite1h, audio, output } = { ...none, ...tokens };
  const promptTokens = input + cacheRead + cacheWrite + cacheWrite1h;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: output,
    total_tokens: promptTokens + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite + cacheWrite1h,
      ...(audio > 0 && { audio_tokens: audio }),
    },
  };
}

function chatFrames({ text, tokens }: Content): StreamFrames {
  const frame = (choices: readonly object[], usage: object | null = null): SseFrame => ({
    data: {
      id: 'chatcmpl-upstream1',
      object: 'chat.completion.chunk',
      created: createdSeconds,
      model: 'upstream-model-2026-01-01',
      choices,
      usage,
    },
  });
  const delta = (fields: object, finishReason: string | null = null) =>
    frame([{ index: 0, delta: fields, finish_reason: finishReason }]);
  return {
    start: [delta({ role: 'assistant', content: '' })],
    deltas: wordsOf(text).map((word) => delta({ content: word })),
    end: [delta({}, 'stop'), ...(tokens ? [frame([], chatUsage(tokens))] : []), 'data: [DONE]\n\n'],
  };
}

function messageBody({ text, tokens }: Content): object {
  return {
    ...messageHead(),
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    ...(tokens && { usage: messageUsage(tokens) }),
  };
}

function messageHead(): object {
  return {
    id: 'msg_upstream1',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model-2026-01-01',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function messageUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = { ...none, ...tokens };
  return {
    input_tokens: input,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    output_tokens: output,
  };
}

function messageFrames({ text, tokens }: Content): StreamFrames {
  const frame = (type: string, fields: object = {}): SseFrame => ({
    event: type,
    data: { type, ...fields },
  });
  const usage = tokens && messageUsage({ ...tokens, output: 1 });
  return {
    start: [
      frame('message_start', { message: { ...messageHead(), ...(usage && { usage }) } }),
      frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      frame('ping'),
    ],
    deltas: wordsOf(text).map((word) =>
      frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } }),
    ),
    end: [
      frame('content_block_stop', { index: 0 }),
      frame('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        ...(tokens && { usage: { output_tokens: tokens.output } }),
      }),
      frame('message_stop'),
    ],
  };
}

function geminiBody({ text, tokens }: Content): object {
  return {
    ...geminiHead([{ text }], 'STOP'),
    ...(tokens && { usageMetadata: geminiUsage(tokens) }),
  };
}

function geminiHead(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [
      { content: { parts, role: 'model' }, ...(finishReason && { finishReason }), index: 0 },
    ],
    modelVersion: 'upstream-model-2026-01-01',
    responseId: 'upstreamResponse1',
  };
}

/** Gemini reports no cache writes: its implicit cache charges them as plain input. */
function geminiUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWrite1h, audio, output, toolUse } = {
    ...none,
    ...tokens,
  };
  const promptTokenCount = input + cacheRead + cacheWrite + cacheWrite1h;
  return {
    promptTokenCount,
    ...(toolUse > 0 && { toolUsePromptTokenCount: toolUse }),
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    ...(audio > 0 && { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: audio }] }),
    candidatesTokenCount: output,
    totalTokenCount: promptTokenCount + toolUse + output,
  };
}

/** Only the finish reason in the last chunk marks the end. */
function geminiFrames({ text, tokens }: Content): StreamFrames {
  const frame = (part: string, finishReason?: string): SseFrame => ({
    data: {
      ...geminiHead([{ text: part }], finishReason),
      ...(tokens && { usageMetadata: geminiUsage({ ...tokens, output: 1 }) }),
    },
  });
  const last = {
    ...geminiHead([{ text: '' }], 'STOP'),
    ...(tokens && { usageMetadata: geminiUsage(tokens) }),
  };
  return { start: [], deltas: wordsOf(text).map((word) => frame(word)), end: [{ data: last }] };
}

function converseBody({ text, tokens }: Content): object {
  return {
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason: 'end_turn',
    ...(tokens && { usage: converseUsage(tokens) }),
    metrics: { latencyMs: 1 },
  };
}

function converseUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = { ...none, ...tokens };
  return {
    inputTokens: input,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite + cacheWrite1h,
    ...(cacheWrite1h > 0 && { cacheDetails: [{ ttl: '1h', inputTokens: cacheWrite1h }] }),
    outputTokens: output,
    totalTokens: input + cacheRead + cacheWrite + cacheWrite1h + output,
  };
}

/** The usage comes behind the stop reason. */
function converseFrames({ text, tokens }: Content): StreamFrames {
  const frame = (event: string, data: object): SseFrame => ({ event, data });
  return {
    start: [frame('messageStart', { role: 'assistant' })],
    deltas: wordsOf(text).map((word) =>
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: word } }),
    ),
    end: [
      frame('contentBlockStop', { contentBlockIndex: 0 }),
      frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', {
        ...(tokens && { usage: converseUsage(tokens) }),
        metrics: { latencyMs: 1 },
      }),
    ],
  };
}
