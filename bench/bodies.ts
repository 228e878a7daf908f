// Realistic fixed bodies: a request and an answer of about 1 KB in each wire format, and a stream
// of 200 deltas in two of them.
import { formatSse } from '../src/lib/sse.ts';

export type WireFormat = 'chat' | 'messages' | 'responses';

/** Deltas in each stream, without its opening and closing events. */
export const deltasPerStream = 200;

const instructions =
  'You are the assistant of a small online shop for garden tools. Answer in the language of the customer, in at most five sentences, ' +
  'and never promise a delivery date that the order system has not given you. When a question is not about the shop, say so kindly.';
const history = [
  {
    role: 'user',
    content:
      'Hello! I ordered a pair of pruning shears last week, order 48213. Has the parcel left your warehouse yet?',
  },
  {
    role: 'assistant',
    content:
      'Yes, order 48213 was handed to the carrier on Tuesday morning. The tracking page shows it in the regional centre; the carrier ' +
      'has not announced a delivery day yet. I can send you a message as soon as it does.',
  },
  {
    role: 'user',
    content:
      'Please do. One more thing: the shears are a present for my mother, who is left-handed. Is the model that I chose made for both ' +
      'hands, and if it is not, what would it cost to exchange it for one that is?',
  },
];
const answer =
  'The model in your order, the Bypass 22, is made for the right hand: the lock and the blade sit on the side that a left-handed person ' +
  'would have to reach around. The Bypass 22 L is the same pair of shears mirrored, and it costs the same, so an exchange is free apart ' +
  'from the postage of the parcel back to us, which is 4.90 within the country. If you like, refuse the parcel when it comes and we ' +
  'send the other model the same day; then you pay nothing at all. Shall I note the exchange for you now?';

/** Returns a request to the model as JSON. */
export function requestBody(format: WireFormat, model: string, stream: boolean): string {
  const shared = { model, temperature: 0.7, stream };
  switch (format) {
    case 'chat':
      return JSON.stringify({
        ...shared,
        max_tokens: 512,
        messages: [{ role: 'system', content: instructions }, ...history],
      });
    case 'messages':
      return JSON.stringify({
        ...shared,
        max_tokens: 512,
        system: instructions,
        messages: history,
      });
    case 'responses':
      return JSON.stringify({ ...shared, max_output_tokens: 512, instructions, input: history });
  }
}

/** Returns an upstream's answer to a request that does not stream. */
export function answerBody(format: WireFormat): string {
  return JSON.stringify(answers[format]);
}

/** What the upstream reports for every Chat answer, whole or streamed. */
export const chatUsage = { inputTokens: 247, outputTokens: 131 } as const;

const answers: Record<WireFormat, object> = {
  chat: {
    id: 'chatcmpl-C9aBkT3oXq1uY7nE5rZ0wLh2vJ4mD',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'upstream-model-2026-09-01',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: chatUsage.inputTokens,
      completion_tokens: chatUsage.outputTokens,
      total_tokens: chatUsage.inputTokens + chatUsage.outputTokens,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_8f2b61c3d0',
  },
  messages: {
    id: 'msg_01XhQ7sRkZb3VdWnYtUe5KpA',
    type: 'message',
    role: 'assistant',
    model: 'upstream-model-20260901',
    content: [{ type: 'text', text: answer }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 251,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 134,
      service_tier: 'standard',
    },
  },
  responses: {
    id: 'resp_68af2c7be1d4819a9d3c5f7088e2b6410c3a1f',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    model: 'upstream-model-2026-09-01',
    output: [
      {
        id: 'msg_68af2c7c0f6c819ab1c7e0d95d3a4f620c3a1f',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: answer, annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 0.7,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: 247,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 131,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 378,
    },
    metadata: {},
  },
};

/** The text of the upstream's whole answer, and of each delta of its stream. */
export const answerText = answer;
export const deltaTexts: readonly string[] = Array.from(
  { length: deltasPerStream },
  (_, index) => `${index === 0 ? '' : ' '}word${index}`,
);

/** Returns an upstream's stream, one event per element. */
export function streamFrames(format: 'chat' | 'messages'): readonly string[] {
  return format === 'chat' ? chatFrames(deltaTexts) : messagesFrames(deltaTexts);
}

function chatFrames(words: readonly string[]): string[] {
  const {
    id,
    created,
    model,
    service_tier: tier,
    system_fingerprint: fingerprint,
    usage,
  } = answers.chat as Record<string, unknown>;
  const head = {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    service_tier: tier,
    system_fingerprint: fingerprint,
  };
  const frame = (delta: object, reason: string | null = null) =>
    formatSse(
      null,
      JSON.stringify({
        ...head,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
        usage: null,
      }),
    );
  return [
    frame({ role: 'assistant', content: '', refusal: null }),
    ...words.map((content) => frame({ content })),
    frame({}, 'stop'),
    formatSse(null, JSON.stringify({ ...head, choices: [], usage })),
    formatSse(null, '[DONE]'),
  ];
}

function messagesFrames(words: readonly string[]): string[] {
  const { usage, ...message } = answers.messages as Record<string, unknown>;
  const frame = (type: string, fields: object = {}) =>
    formatSse(type, JSON.stringify({ type, ...fields }));
  return [
    frame('message_start', {
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { ...(usage as object), output_tokens: 1 },
      },
    }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) =>
      frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    frame('content_block_stop', { index: 0 }),
    frame('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: deltasPerStream },
    }),
    frame('message_stop'),
  ];
}
