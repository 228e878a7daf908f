// The three wire formats as a chat client sees them. Each writes a chat request and reads whole
// answers and stream events into the same `AnswerDelta`.

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
type Effort = (typeof efforts)[number];

export type Message = { readonly role: 'user' | 'assistant'; readonly text: string };

/** Null fields use the model's default. */
export type ChatSettings = {
  readonly system: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly effort: Effort | null;
  readonly stream: boolean;
};

export type ChatRequest = ChatSettings & {
  readonly model: string;
  readonly messages: readonly Message[];
};

/** The part of an answer in one stream event, or a whole answer. */
export type AnswerDelta = {
  readonly text?: string;
  readonly reasoning?: string;
  /** Stop reason, in the format's own words. */
  readonly stop?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Sent with the final usage. */
  readonly costMicros?: number;
  /** Set when the answer fails after it began. */
  readonly error?: { readonly code: string; readonly message: string };
};

export type FormatName = 'responses' | 'chat' | 'messages';

export type ChatFormat = {
  readonly name: FormatName;
  readonly label: string;
  readonly path: `/v1/${string}`;
  readonly efforts: readonly Effort[];
  readonly temperatureMax: number;
  readonly writeBody: (request: ChatRequest) => Json;
  /** `event`: the event's name; empty in formats without names. */
  readonly readEvent: (event: string, data: unknown) => AnswerDelta;
  readonly readAnswer: (body: unknown) => AnswerDelta;
};

export type Json = { readonly [field: string]: unknown };

/** The Messages format requires a limit. */
const messagesMaxTokens = 4_096;

const responses: ChatFormat = {
  name: 'responses',
  label: 'Responses',
  path: '/v1/responses',
  efforts,
  temperatureMax: 2,
  writeBody: ({ model, system, messages, maxTokens, temperature, effort, stream }) => ({
    model,
    ...(system !== '' && { instructions: system }),
    input: messages.map(({ role, text }) => ({ role, content: text })),
    ...(maxTokens !== null && { max_output_tokens: maxTokens }),
    ...(temperature !== null && { temperature }),
    ...(effort !== null && {
      reasoning: effort === 'none' ? { effort } : { effort, summary: 'auto' },
    }),
    ...(stream && { stream }),
  }),
  readEvent(event, data) {
    const { delta, response } = fieldsOf(data);
    switch (event) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return { text: textOf(delta) };
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return { reasoning: textOf(delta) };
      case 'response.reasoning_summary_part.added':
        return { reasoning: fieldsOf(data)['summary_index'] === 0 ? '' : '\n\n' };
      case 'response.completed':
      case 'response.incomplete':
        return readResponseEnd(response);
      case 'response.failed':
        return { error: errorOf(fieldsOf(response)['error']) };
      case 'error':
        return { error: errorOf(fieldsOf(data)['error'] ?? data) };
      default:
        return {};
    }
  },
  readAnswer(body) {
    const output = listOf(fieldsOf(body)['output']).map(fieldsOf);
    const textsOf = (item: Json, field: string) =>
      listOf(item[field]).map((part) => fieldsOf(part));
    return {
      ...readResponseEnd(body),
      text: output
        .filter(({ type }) => type === 'message')
        .flatMap((item) =>
          textsOf(item, 'content').map((part) => textOf(part['text'] ?? part['refusal'])),
        )
        .join(''),
      reasoning: output
        .filter(({ type }) => type === 'reasoning')
        .flatMap((item) =>
          [...textsOf(item, 'summary'), ...textsOf(item, 'content')].map((part) =>
            textOf(part['text']),
          ),
        )
        .join('\n\n'),
    };
  },
};

function readResponseEnd(response: unknown): AnswerDelta {
  const { status, usage, incomplete_details: details } = fieldsOf(response);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = fieldsOf(usage);
  return {
    stop: textOf(fieldsOf(details)['reason'] ?? status),
    ...tokensOf(inputTokens, outputTokens),
    ...costOf(usage),
  };
}

const chat: ChatFormat = {
  name: 'chat',
  label: 'Chat Completions',
  path: '/v1/chat/completions',
  efforts,
  temperatureMax: 2,
  writeBody: ({ model, system, messages, maxTokens, temperature, effort, stream }) => ({
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.map(({ role, text }) => ({ role, content: text })),
    ],
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    ...(temperature !== null && { temperature }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  readEvent(_event, data) {
    const { error, choices } = fieldsOf(data);
    if (error !== undefined) return { error: errorOf(error) };
    const choice = fieldsOf(listOf(choices)[0]);
    return {
      ...readChatMessage(choice['delta']),
      ...stopOf(choice['finish_reason']),
      ...readChatUsage(data),
    };
  },
  readAnswer(body) {
    const choice = fieldsOf(listOf(fieldsOf(body)['choices'])[0]);
    return {
      ...readChatMessage(choice['message']),
      ...stopOf(choice['finish_reason']),
      ...readChatUsage(body),
    };
  },
};

/** Providers use two names for reasoning text. */
function readChatMessage(message: unknown): AnswerDelta {
  const { content, refusal, reasoning_content: thought, reasoning } = fieldsOf(message);
  return { text: textOf(content) + textOf(refusal), reasoning: textOf(thought ?? reasoning) };
}

function readChatUsage(data: unknown): AnswerDelta {
  const { usage } = fieldsOf(data);
  const { prompt_tokens: input, completion_tokens: output } = fieldsOf(usage);
  return { ...tokensOf(input, output), ...costOf(usage) };
}

const messages: ChatFormat = {
  name: 'messages',
  label: 'Messages',
  path: '/v1/messages',
  efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  temperatureMax: 1,
  writeBody: ({
    model,
    system,
    messages: conversation,
    maxTokens,
    temperature,
    effort,
    stream,
  }) => ({
    model,
    max_tokens: maxTokens ?? messagesMaxTokens,
    ...(system !== '' && { system }),
    messages: conversation.map(({ role, text }) => ({ role, content: text })),
    ...(temperature !== null && { temperature }),
    ...(effort !== null &&
      (effort === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'adaptive' }, output_config: { effort } })),
    ...(stream && { stream }),
  }),
  readEvent(event, data) {
    const { delta, message, usage, error } = fieldsOf(data);
    switch (event) {
      case 'message_start':
        return readMessagesUsage(fieldsOf(message)['usage']);
      case 'content_block_delta':
        return {
          text: textOf(fieldsOf(delta)['text']),
          reasoning: textOf(fieldsOf(delta)['thinking']),
        };
      case 'message_delta':
        return { ...stopOf(fieldsOf(delta)['stop_reason']), ...readMessagesUsage(usage) };
      case 'error':
        return { error: errorOf(error) };
      default:
        return {};
    }
  },
  readAnswer(body) {
    const { content, stop_reason: stop, usage } = fieldsOf(body);
    const blocks = listOf(content).map(fieldsOf);
    return {
      text: blocks.map((block) => textOf(block['text'])).join(''),
      reasoning: blocks.map((block) => textOf(block['thinking'])).join(''),
      ...stopOf(stop),
      ...readMessagesUsage(usage),
    };
  },
};

/** The format's `input_tokens` excludes cached tokens. */
function readMessagesUsage(usage: unknown): AnswerDelta {
  const {
    input_tokens: input,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: output,
  } = fieldsOf(usage);
  const inputTokens =
    typeof input === 'number' ? input + numberOf(read) + numberOf(written) : undefined;
  return { ...tokensOf(inputTokens, output), ...costOf(usage) };
}

export const chatFormats: Readonly<Record<FormatName, ChatFormat>> = { responses, chat, messages };

/** Returns true when the delta adds something to read: text or reasoning. */
export function isReadable({ text, reasoning }: AnswerDelta): boolean {
  return Boolean(text) || Boolean(reasoning);
}

/** Appends texts; later counts replace earlier ones. */
export function applyDelta(answer: AnswerDelta, delta: AnswerDelta): AnswerDelta {
  return {
    ...answer,
    ...delta,
    text: (answer.text ?? '') + (delta.text ?? ''),
    reasoning: (answer.reasoning ?? '') + (delta.reasoning ?? ''),
  };
}

function tokensOf(input: unknown, output: unknown): AnswerDelta {
  return {
    ...(typeof input === 'number' && { inputTokens: input }),
    ...(typeof output === 'number' && { outputTokens: output }),
  };
}

/** The gateway reports dollars. */
function costOf(usage: unknown): AnswerDelta {
  const { cost } = fieldsOf(usage);
  return typeof cost === 'number' ? { costMicros: Math.round(cost * 1_000_000) } : {};
}

function stopOf(value: unknown): AnswerDelta {
  return typeof value === 'string' ? { stop: value } : {};
}

/** All formats describe errors alike: a code or type, and a message. */
function errorOf(value: unknown): { readonly code: string; readonly message: string } {
  const { code, type, message } = fieldsOf(value);
  return {
    code: textOf(code) || textOf(type) || 'unknown',
    message: textOf(message) || 'The answer ended early.',
  };
}

function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
