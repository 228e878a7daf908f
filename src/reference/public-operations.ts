// Describes every route of the public API (`server/routes.ts`), in the same order. A route without
// an entry here does not compile; an entry without a route fails tests/integration/openapi.test.ts.
import { Type, type TSchema } from 'typebox';
import type { ErrorCode } from '../canonical/errors.ts';
import * as chatAnswer from '../formats/chat/answer-schema.ts';
import * as chat from '../formats/chat/schema.ts';
import { CompletionEventSchema, CompletionSchema } from '../formats/chat/completions-schema.ts';
import { ErrorDetails, ErrorFields } from '../formats/error-schema.ts';
import * as geminiAnswer from '../formats/gemini/answer-schema.ts';
import * as gemini from '../formats/gemini/schema.ts';
import * as messagesAnswer from '../formats/messages/answer-schema.ts';
import * as messages from '../formats/messages/schema.ts';
import * as responsesAnswer from '../formats/responses/answer-schema.ts';
import * as responses from '../formats/responses/schema.ts';
import { CacheReport } from '../management/contract/usage.ts';
import * as answers from './answers.ts';
import { batchOperations, batchSchemas } from './batch-operations.ts';
import { always, withBody, withKey, withScope } from './common-errors.ts';
import { type HeaderName, rateHeaders } from './headers.ts';
import type { Answer, Operation, Parameter } from './operation.ts';
import { header, json, query } from './operation-parts.ts';
import { requests } from './requests.ts';

export const publicTags = {
  Models: 'Run a model, in the wire format of your choice, or count the tokens of a request.',
  Embeddings: 'Turn texts into vectors, to find what is similar.',
  Rerank: 'Rank documents by how well they answer a query.',
  Moderations: 'Find out whether a text or an image is harmful.',
  Audio: 'Speak texts, and write down what is said.',
  Images: 'Make and change images.',
  Search: 'Search the web.',
  Batches: 'Send many requests at once, and read their answers later.',
  Catalogue: 'The models that a key may use, and their prices.',
  Account: 'The balance and the charges of a key’s account.',
  'Claude Code': 'What Claude Code asks a gateway for beside Messages.',
  Operation: 'For operators, load balancers and browsers.',
};

/** Errors of endpoints that call a provider, charged or free. */
const working: readonly ErrorCode[] = [
  ...withScope,
  ...withBody,
  'model_not_found',
  'model_not_allowed_for_key',
  'account_frozen',
  'upstream_error',
  'upstream_timeout',
];
const charged: readonly ErrorCode[] = [
  ...working,
  'insufficient_balance',
  'loss_budget_exceeded',
  'idempotency_conflict',
  'idempotency_body_not_retained',
  'key_daily_limit_reached',
  'key_monthly_limit_reached',
  'member_budget_reached',
];
const modelErrors: readonly ErrorCode[] = [...charged, 'context_length_exceeded'];

const limitedHeaders: readonly HeaderName[] = [
  ...rateHeaders,
  'deprecation',
  'sunset',
  'link',
  'mode',
];
const chargedHeaders: readonly HeaderName[] = [
  'cost',
  'balance',
  'route',
  'attempts',
  'cache',
  'idempotency',
  'ignored',
  ...limitedHeaders,
];
const modelHeaders: readonly HeaderName[] = [
  ...chargedHeaders,
  'reserved',
  'outputLimit',
  'emulated',
  'x-accel-buffering',
];

const idempotencyKey = header(
  'Idempotency-Key',
  'Repeats with the same key and body get the first answer again, free of charge.',
);
const cacheWish = header(
  'cache',
  '`true`: answer from the response cache if possible. `false`: do not.',
  Type.Enum(['true', 'false']),
);
const commentsWish = header(
  'streamComments',
  '`true`: a stream tells its cost in a comment, too.',
  Type.Enum(['true', 'false']),
);
const tags = header(
  'tags',
  'Tags for cost by project, end user or anything else: at most ten, with commas between. ' +
    '`project=alpha, env=prod, nightly`.',
);
const betas = header('anthropic-beta', 'Beta features of Anthropic, for its own models.');
const chargedWishes = [idempotencyKey, cacheWish, tags];
const modelWishes = [...chargedWishes, commentsWish];

type SaleOperation = Partial<Operation> &
  Pick<Operation, 'id' | 'tag' | 'summary'> & {
    readonly answer: Pick<Answer, 'description' | 'content' | 'headers'>;
  };

function describeModel({
  content,
  ...operation
}: Partial<Operation> & Pick<Operation, 'id' | 'summary'> & Pick<Answer, 'content'>): Operation {
  return {
    tag: 'Models',
    access: 'key',
    parameters: modelWishes,
    answers: { 200: { description: 'The answer.', headers: modelHeaders, content } },
    errors: modelErrors,
    ...operation,
  };
}

function describeCount(
  count: TSchema,
  operation: Partial<Operation> & Pick<Operation, 'id' | 'summary' | 'access'>,
): Operation {
  const headers: readonly HeaderName[] = [...limitedHeaders, 'ignored', 'tokenCount'];
  return {
    tag: 'Models',
    answers: { 200: { description: 'The count.', headers, content: json(count) } },
    errors: [...working, 'context_length_exceeded'],
    ...operation,
  };
}

/** Describes an endpoint that sells, with the headers and errors that all of them have. */
export function describeSale({ answer, ...operation }: SaleOperation): Operation {
  return {
    access: 'key',
    parameters: chargedWishes,
    answers: { 200: { headers: chargedHeaders, ...answer } },
    errors: charged,
    ...operation,
  };
}

const streamed =
  'With `stream: true`, the answer is an event stream. Its cost and balance come as HTTP trailers. ' +
  'Comments (`: keep-alive`) may come between events.';

const transcript: SaleOperation['answer'] = {
  description: 'The text.',
  headers: [...chargedHeaders, 'reserved', 'x-accel-buffering'],
  content: {
    'application/json': answers.Transcription,
    'text/plain': Type.String(),
    'text/event-stream': { events: answers.TranscriptionEvent, terminator: '[DONE]' },
  },
};

// Examples stream where an answer can, so that the first one arrives word by word.
const hello = [{ role: 'user', content: 'Hello!' }];
const chatExample = {
  model: 'gpt-6-luna',
  messages: hello,
  stream: true,
  stream_options: { include_usage: true },
};
const countExample = { model: 'claude-haiku-4-5', messages: hello };
const messagesExample = { ...countExample, max_tokens: 300, stream: true };
const inputExample = { model: 'gpt-6-luna', input: 'Hello!' };

const geminiExample = { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] };
const googleModel: Parameter = {
  name: 'model',
  in: 'path',
  description: 'May contain slashes, as they are.',
  schema: Type.String({ examples: ['gemini-3.5-flash'] }),
};
const googleEmbeddingModel: Parameter = {
  ...googleModel,
  schema: Type.String({ examples: ['gemini-embedding-001'] }),
};
const googlePaths =
  'The versions `/v1`, `/v1alpha` and `/v1beta1` answer alike, and so do the paths of Vertex: ' +
  '`/v1/projects/…/publishers/google/models/…`.';

function inGoogleForm(method: string) {
  return { path: `/v1beta/models/{model}:${method}`, errorShape: 'gemini' } as const;
}

const oauthAnswer = { headers: ['cache-control'], content: json(Type.Object({})) } as const;
/** RFC 6749, 5.2. */
const oauthError = {
  headers: ['cache-control'],
  content: json(
    Type.Object({
      error: Type.String({ description: 'The code, such as `authorization_pending`.' }),
      error_description: Type.String({ description: 'What went wrong, in English.' }),
    }),
  ),
} as const;
const oauthErrors: readonly ErrorCode[] = [
  'internal_error',
  'upstream_unavailable',
  'request_too_large',
  'overloaded',
];
const revokeForm = Type.Object({ token: Type.String({ description: 'The key.' }) });
const tokenForm = Type.Object({
  grant_type: Type.String({
    description: 'The kind of grant, always the same.',
    examples: ['urn:ietf:params:oauth:grant-type:device_code'],
  }),
  device_code: Type.String({ description: 'The code of the program.' }),
});

function telemetry<const Id extends string>(id: Id, what: string) {
  return {
    id,
    tag: 'Claude Code',
    summary: `Take a client's ${what} by OTLP, and drop them`,
    access: 'key',
    body: {
      content: { 'application/x-protobuf': Type.Unsafe<string>({}), ...json(Type.Unknown()) },
    },
    answers: {
      200: {
        description: 'They were dropped.',
        content: { 'application/x-protobuf': Type.Unsafe<string>({}), ...json(Type.Object({})) },
      },
    },
    errors: [...withScope, 'request_too_large', 'overloaded'],
  } as const satisfies Operation;
}

/** `parameter`: the name of the part of the path that chooses the file. */
function file<const Id extends string>(id: Id, summary: string, parameter?: string) {
  return {
    id,
    tag: 'Operation',
    summary,
    access: 'open',
    parameters: parameter ? [{ name: parameter, in: 'path', schema: Type.String() }] : [],
    answers: {
      200: {
        description: 'The file.',
        headers: ['cache-control'],
        content: { '*/*': Type.Unsafe<string>({}) },
      },
    },
    errors: [...always, 'not_found'],
  } as const satisfies Operation;
}

const chargeFilters: readonly Parameter[] = [
  query('from', 'A UTC day, `2026-11-21`, or a time with its zone, `2026-11-21T12:00:00Z`.'),
  query('to', 'Like `from`. A day is included; a time is exclusive.'),
  query('model', 'Any name of a model; `web-search` for searches.'),
  query('key', 'The id of a key.', Type.String({ pattern: '^key_\\w{1,64}$' })),
];

function rerank(id: string) {
  return describeSale({
    id,
    tag: 'Rerank',
    summary: 'Rank documents by a query',
    errors: modelErrors,
    description: 'In the format of Cohere and Jina. The best document comes first.',
    body: {
      content: json(requests.rerank),
      example: {
        model: 'rerank-v3.5',
        query: 'Which light guides ships?',
        documents: ['A lighthouse at night', 'A bakery'],
      },
    },
    answer: { description: 'The ranking.', content: json(answers.Ranking) },
  });
}

const forOperation = { tag: 'Operation', access: 'open' } as const;
const openForClaudeCode = { tag: 'Claude Code', access: 'open' } as const;
const ofAccount = { tag: 'Account', access: 'key' } as const;
const ofCatalogue = { tag: 'Catalogue', access: 'optional-key' } as const;

export const publicOperations = {
  'POST /v1/responses': describeModel({
    id: 'createResponse',
    summary: 'Run a model in OpenAI’s Responses format',
    description: streamed,
    access: 'key-or-query',
    body: { content: json(requests.responses), example: { ...inputExample, stream: true } },
    content: {
      'application/json': responsesAnswer.AnswerSchema,
      'text/event-stream': { events: responsesAnswer.StreamEventSchema, hasName: true },
    },
  }),
  'GET /v1/responses': {
    id: 'openResponses',
    tag: 'Models',
    summary: 'Open a WebSocket for many Responses requests',
    description:
      'Each text frame of the client is a request: the body of `POST /v1/responses` with `"type":"response.create"`. ' +
      'Each frame that it gets is an event of the stream, or an error with its `status`. ' +
      '`previous_response_id` may name the last response of the connection; `stream_id` is repeated in every frame.',
    access: 'key-or-query',
    answers: { 101: { description: 'The connection is a WebSocket from here on.' } },
    errors: [
      ...withScope,
      'not_permitted',
      'upgrade_required',
      'previous_response_not_found',
      'websocket_connection_limit_reached',
    ],
  },
  'POST /v1/responses/compact': {
    id: 'compactResponse',
    tag: 'Models',
    summary: 'Replace a conversation in OpenAI’s Responses format by a short stand-in',
    description:
      'The answer has the user’s messages and one item `compaction`, which any model reads instead of the rest. ' +
      'The `input` of `POST /v1/responses` may end with `{"type":"compaction_trigger"}` instead.',
    access: 'key',
    parameters: chargedWishes,
    body: { content: json(requests.responses), example: inputExample },
    answers: {
      200: {
        description: 'The compacted conversation.',
        headers: modelHeaders,
        content: json(responsesAnswer.CompactionSchema),
      },
    },
    errors: modelErrors,
  },
  'POST /v1/chat/completions': describeModel({
    id: 'createChatCompletion',
    summary: 'Run a model in OpenAI’s Chat Completions format',
    description: streamed,
    body: { content: json(requests.chat), example: chatExample },
    errorShape: 'chat',
    content: {
      'application/json': chatAnswer.AnswerSchema,
      'text/event-stream': {
        events: chatAnswer.StreamEventSchema,
        hasName: false,
        terminator: '[DONE]',
      },
    },
  }),
  'POST /v1/completions': describeModel({
    id: 'createCompletion',
    summary: 'Run a model in OpenAI’s older Completions format',
    description: `A provider that has this endpoint continues the prompt. Elsewhere the prompt is asked as a user’s message, so the answer is no continuation. ${streamed}`,
    body: {
      content: json(requests.completions),
      example: { model: 'gpt-6-luna', prompt: 'Hello!', stream: true },
    },
    errorShape: 'chat',
    content: {
      'application/json': CompletionSchema,
      'text/event-stream': {
        events: CompletionEventSchema,
        hasName: false,
        terminator: '[DONE]',
      },
    },
  }),
  'POST /v1/messages': describeModel({
    id: 'createMessage',
    summary: 'Run a model in Anthropic’s Messages format',
    description: streamed,
    parameters: [...modelWishes, betas],
    body: { content: json(requests.messages), example: messagesExample },
    errorShape: 'messages',
    content: {
      'application/json': messagesAnswer.AnswerSchema,
      'text/event-stream': { events: messagesAnswer.StreamEventSchema, hasName: true },
    },
  }),
  'POST /v1beta/generateContent/*': describeModel({
    ...inGoogleForm('generateContent'),
    id: 'generateContent',
    summary: 'Run a model in Google’s Gemini format',
    description: `The answer comes whole. ${googlePaths}`,
    access: 'google-key',
    parameters: [googleModel, ...modelWishes],
    body: { content: json(requests.gemini), example: geminiExample },
    content: json(geminiAnswer.AnswerSchema),
  }),
  'POST /v1beta/streamGenerateContent/*': describeModel({
    ...inGoogleForm('streamGenerateContent'),
    id: 'streamGenerateContent',
    summary: 'Run a model in Google’s Gemini format, and stream its answer',
    description:
      'With `alt=sse`, the answer is an event stream; else it is one JSON array, sent as it grows. ' +
      'The last chunk has the finish reason, the usage and the cost; cost and balance come as HTTP trailers, too. ' +
      'Chunks with an empty text may come between others.',
    access: 'google-key',
    parameters: [
      googleModel,
      query('alt', '`sse`: server-sent events. Else a JSON array.', Type.Enum(['sse', 'json'])),
      ...modelWishes,
    ],
    body: { content: json(requests.gemini), example: geminiExample },
    content: {
      'text/event-stream': { events: geminiAnswer.StreamEventSchema, hasName: false },
      'application/json': Type.Array(geminiAnswer.StreamEventSchema),
    },
  }),
  'POST /v1/embeddings': describeSale({
    id: 'createEmbedding',
    tag: 'Embeddings',
    summary: 'Turn texts into vectors',
    errors: modelErrors,
    description:
      'In OpenAI’s format. Equal requests are answered from the cache, unless a header says otherwise.',
    body: {
      content: json(requests.embeddings),
      example: { model: 'text-embedding-3-small', input: 'A lighthouse at night' },
    },
    answer: {
      description: 'The vectors, in the order of the texts.',
      content: json(answers.Embeddings),
    },
  }),
  'POST /v1beta/embedContent/*': describeSale({
    ...inGoogleForm('embedContent'),
    id: 'embedContent',
    tag: 'Embeddings',
    summary: 'Turn a text into a vector, in Google’s form',
    errors: modelErrors,
    body: {
      content: json(requests.geminiEmbedding),
      example: { content: { parts: [{ text: 'A lighthouse at night' }] } },
    },
    answer: { description: 'The vector.', content: json(answers.GeminiEmbedding) },
    access: 'google-key',
    parameters: [googleEmbeddingModel, ...chargedWishes],
  }),
  'POST /v1beta/batchEmbedContents/*': describeSale({
    ...inGoogleForm('batchEmbedContents'),
    id: 'batchEmbedContents',
    tag: 'Embeddings',
    summary: 'Turn texts into vectors, in Google’s form',
    errors: modelErrors,
    body: {
      content: json(requests.geminiEmbeddings),
      example: { requests: [{ content: { parts: [{ text: 'A lighthouse at night' }] } }] },
    },
    answer: {
      description: 'The vectors, in the order of the texts.',
      content: json(answers.GeminiEmbeddings),
    },
    access: 'google-key',
    parameters: [googleEmbeddingModel, ...chargedWishes],
  }),
  'POST /v1/audio/speech': describeSale({
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Speak a text',
    description:
      'In OpenAI’s format. The audio is sent as it comes, as bytes, or as events with `stream_format` `sse`. Its cost is in the trailers, and in the last event. An answer that breaks off cuts the connection, or ends with an error event, and costs nothing.',
    body: {
      content: json(requests.speech),
      example: {
        model: 'gemini-3.8-flash-tts',
        input: 'A lighthouse at night',
        voice: 'Kore',
      },
    },
    answer: {
      description: 'The audio.',
      headers: [...chargedHeaders, 'reserved', 'x-accel-buffering'],
      content: {
        'audio/*': Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
        'text/event-stream': { events: answers.SpeechEvent },
      },
    },
  }),
  'POST /v1/rerank': rerank('rankDocuments'),
  'POST /v2/rerank': rerank('rankDocumentsV2'),
  'POST /v1/moderations': describeSale({
    id: 'createModeration',
    tag: 'Moderations',
    summary: 'Judge whether texts or an image are harmful',
    errors: modelErrors,
    description: 'In OpenAI’s format. Most models for it are free.',
    body: { content: json(requests.moderations), example: { input: 'A lighthouse at night' } },
    answer: {
      description: 'A result for each text, or one for the parts of a message.',
      content: json(answers.Moderations),
    },
  }),
  'POST /v1/audio/transcriptions': describeSale({
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Write down what is said',
    description:
      'In OpenAI’s format: a form with the audio as `file`. Lists have names such as `include[]`. With `stream` `true` the text comes as events, and the cost in the last of them and in the trailers.',
    body: { content: { 'multipart/form-data': requests.transcription } },
    answer: transcript,
  }),
  'POST /v1/audio/translations': describeSale({
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Write down in English what is said',
    description: 'As a transcription, in English, for models that translate.',
    body: { content: { 'multipart/form-data': requests.transcription } },
    answer: transcript,
  }),
  'POST /v1/images/generations': describeSale({
    id: 'createImage',
    tag: 'Images',
    summary: 'Make images',
    body: {
      content: json(requests.images),
      example: { model: 'flux-2', prompt: 'A lighthouse at night' },
    },
    answer: { description: 'The images.', content: json(answers.GeneratedImages) },
  }),
  'POST /v1/images/edits': describeSale({
    id: 'editImage',
    tag: 'Images',
    summary: 'Change images',
    description:
      'A form has the images as files, `image` or `image[]`, and the other fields as text.',
    body: {
      content: {
        'application/json': requests.images,
        'multipart/form-data': Type.Object({ model: Type.String(), prompt: Type.String() }),
      },
      example: {
        model: 'flux-2-edit',
        prompt: 'Make it night',
        images: ['https://example.com/lighthouse.png'],
      },
    },
    answer: { description: 'The images.', content: json(answers.GeneratedImages) },
  }),
  'POST /v1/web-search': describeSale({
    id: 'searchWeb',
    tag: 'Search',
    summary: 'Search the web',
    body: { content: json(requests.search), example: { query: 'HTTP status 402' } },
    answer: { description: 'The pages found.', content: json(answers.SearchResults) },
  }),

  'POST /v1/messages/count_tokens': describeCount(answers.TokenCount, {
    id: 'countMessageTokens',
    summary: 'Count the input of a Messages request, free of charge',
    access: 'key',
    parameters: [betas],
    body: { content: json(requests.count), example: countExample },
    errorShape: 'messages',
  }),
  'POST /v1/messages/cache_touch': {
    id: 'touchMessageCache',
    tag: 'Claude Code',
    access: 'key',
    summary: 'Refuse to keep a prompt cache alive, in a way that the client goes on after',
    answers: {},
    errors: [...withScope, ...withBody, 'not_supported'],
    errorShape: 'messages',
  },
  'POST /v1/responses/input_tokens': describeCount(answers.InputCount, {
    id: 'countResponseTokens',
    summary: 'Count the input of a Responses request, free of charge',
    access: 'key',
    body: { content: json(requests.responses), example: inputExample },
  }),

  'POST /v1beta/countTokens/*': describeCount(geminiAnswer.CountSchema, {
    ...inGoogleForm('countTokens'),
    id: 'countGeminiTokens',
    summary: 'Count the input tokens of a request in Google’s form, free of charge',
    description: 'The body is the request itself, or has it as `generateContentRequest`.',
    access: 'google-key',
    parameters: [googleModel],
    body: { content: json(requests.gemini), example: geminiExample },
  }),

  'GET /v1/models': {
    id: 'listModels',
    ...ofCatalogue,
    summary: 'List the models that the caller may use',
    description: 'Without parameters the list is whole; with one of them it is a page.',
    parameters: [
      query('limit', 'Models a page; default 20.', Type.Integer({ minimum: 1, maximum: 1_000 })),
      query('after_id', 'The `last_id` of the page before.'),
      query('before_id', 'The `first_id` of the page after.'),
    ],
    answers: { 200: { description: 'The models.', content: json(answers.ModelList) } },
    errors: withKey,
  },
  'GET /v1/models/info': {
    id: 'listModelInfo',
    ...ofCatalogue,
    summary: 'List the models with their limits and prices',
    description: 'With a key, the prices are what its account pays; without, the list prices.',
    answers: { 200: { description: 'The models.', content: json(answers.ModelInfoList) } },
    errors: withKey,
  },
  'GET /v1/models/*': {
    id: 'getModel',
    ...ofCatalogue,
    summary: 'Get one model by any of its names',
    parameters: [{ ...googleModel, schema: Type.String({ examples: ['gpt-6-luna'] }) }],
    answers: { 200: { description: 'The model.', content: json(answers.ModelEntry) } },
    errors: [...withKey, 'model_not_found'],
  },
  'GET /v1beta/models': {
    id: 'listGeminiModels',
    tag: 'Catalogue',
    summary: 'List the models in Google’s form',
    access: 'optional-google-key',
    parameters: [
      query('pageSize', 'Models a page; default 50.', Type.Integer({ minimum: 1, maximum: 1_000 })),
      query('pageToken', 'The `nextPageToken` of the page before.'),
    ],
    answers: { 200: { description: 'The models.', content: json(answers.GeminiModelList) } },
    errors: withKey,
    errorShape: 'gemini',
  },
  'GET /v1beta/models/*': {
    id: 'getGeminiModel',
    tag: 'Catalogue',
    summary: 'Get one model by any of its names, in Google’s form',
    access: 'optional-google-key',
    parameters: [googleModel],
    answers: { 200: { description: 'The model.', content: json(answers.GeminiModel) } },
    errors: [...withKey, 'model_not_found'],
    errorShape: 'gemini',
  },
  ...batchOperations,
  'GET /v1/balance': {
    id: 'getBalance',
    ...ofAccount,
    summary: 'Get the balance of the key’s account, in the key’s mode',
    answers: { 200: { description: 'The balance.', content: json(answers.Balance) } },
    errors: withScope,
  },
  'GET /v1/usage': {
    id: 'listUsage',
    ...ofAccount,
    summary: 'List the charges of the key’s account, in the key’s mode, newest first',
    description: 'A record must match all filters.',
    parameters: [
      query('limit', 'Records a page.', Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      query('cursor', 'The `next_cursor` of the previous page, with the same filters.'),
      query('request_id', 'One request.'),
      query('tag', 'A whole tag: `project=alpha`.'),
      ...chargeFilters,
    ],
    answers: { 200: { description: 'A page of charges.', content: json(answers.UsagePage) } },
    errors: withScope,
  },
  'GET /v1/usage/prompt-cache': {
    id: 'getPromptCacheUsage',
    ...ofAccount,
    summary: 'Report what was read from providers’ prompt caches',
    description:
      'What could have been read, why it was not, and what that cost: of the key’s account, in the key’s mode, in at most 31 days. By default the last seven.',
    parameters: [
      query(
        'by',
        'What the rows are summed by.',
        Type.Enum(['model', 'key', 'day', 'conversation'], { default: 'model' }),
      ),
      ...chargeFilters,
    ],
    answers: { 200: { description: 'The report.', content: json(CacheReport) } },
    errors: withScope,
  },

  'GET /api/hello': {
    id: 'getHello',
    ...openForClaudeCode,
    summary: 'Tell that the gateway is reached',
    answers: { 200: { description: 'It is.', content: json(answers.Hello) } },
    errors: always,
  },
  'GET /api/oauth/usage': {
    id: 'getSpend',
    tag: 'Claude Code',
    access: 'key',
    summary: 'Get what is spent under the caps of the key, in cents',
    answers: {
      200: {
        description: 'The cap of which the largest part is spent, and all caps.',
        headers: ['cache-control'],
        content: json(answers.Spend),
      },
    },
    errors: withScope,
  },
  'GET /.well-known/oauth-authorization-server': {
    id: 'getSignInDescription',
    ...openForClaudeCode,
    summary: 'Get the addresses of the sign-in of programs (RFC 8414)',
    answers: { 200: { description: 'The addresses.', ...oauthAnswer } },
    errors: always,
  },
  'POST /oauth/device_authorization': {
    id: 'beginDeviceLogin',
    ...openForClaudeCode,
    summary: 'Ask for a key from a machine without a browser (RFC 8628)',
    answers: {
      200: { description: 'The codes, and the page on which a user confirms.', ...oauthAnswer },
      429: { description: 'Too many programs ask: `slow_down`.', ...oauthError },
    },
    errors: ['invalid_request', ...oauthErrors],
  },
  'POST /oauth/token': {
    id: 'pollDeviceLogin',
    ...openForClaudeCode,
    summary: 'Ask for the key that a user has confirmed (RFC 8628)',
    description: 'Until then, the answer is a 400 with `{"error":"authorization_pending"}`.',
    body: { content: { 'application/x-www-form-urlencoded': tokenForm } },
    answers: {
      200: { description: 'The key, as `access_token`.', ...oauthAnswer },
      400: { description: 'Not yet, or not any more.', ...oauthError },
      401: { description: 'There are no refresh tokens: `invalid_grant`.', ...oauthError },
      429: { description: 'Too many programs ask: `slow_down`.', ...oauthError },
    },
    errors: oauthErrors,
  },
  'POST /oauth/revoke': {
    id: 'revokeProgramKey',
    ...openForClaudeCode,
    summary: 'Revoke the key of a program that signs out (RFC 7009)',
    description:
      'Only a key that a program has got by `POST /oauth/token`. Other keys are not changed.',
    body: { content: { 'application/x-www-form-urlencoded': revokeForm } },
    answers: {
      200: { description: 'The key works no more.', ...oauthAnswer },
      400: { description: 'The key is missing.', ...oauthError },
      429: { description: 'Too many programs ask: `slow_down`.', ...oauthError },
    },
    errors: oauthErrors,
  },
  'POST /v1/metrics': telemetry('takeMetrics', 'metrics'),
  'POST /v1/logs': telemetry('takeLogs', 'logs'),
  'POST /v1/traces': telemetry('takeTraces', 'traces'),

  'GET /v1/images/files/*': {
    id: 'getImageFile',
    tag: 'Images',
    summary: 'Read a generated image',
    description: 'The signature in the link is the permission. Use the link as it was given.',
    access: 'open',
    parameters: [
      { name: 'image', in: 'path', schema: Type.String() },
      { name: 'expires', in: 'query', isRequired: true, schema: Type.String() },
      { name: 'signature', in: 'query', isRequired: true, schema: Type.String() },
    ],
    answers: {
      200: {
        description: 'The image.',
        headers: ['etag', 'cache-control'],
        content: { 'image/*': Type.Unsafe<string>({}) },
      },
      206: {
        description: 'A part of it, as the header `Range` asks.',
        headers: ['etag', 'cache-control', 'content-range'],
        content: { 'image/*': Type.Unsafe<string>({}) },
      },
      304: { description: 'The image is known by `If-None-Match`.', headers: ['etag'] },
      416: { description: 'The range is outside of the image.', headers: ['content-range'] },
    },
    errors: [...always, 'not_found'],
  },
  'GET /docs': {
    id: 'getDocumentation',
    ...forOperation,
    summary: 'Read the documentation',
    answers: { 200: { description: 'The first page.', content: { 'text/html': Type.String() } } },
    errors: [...always, 'not_found'],
  },
  'GET /docs/*': file('getDocumentationPage', 'Read a page or a file of the documentation', 'page'),
  'GET /robots.txt': file('getRobots', 'Read what search engines may visit'),
  'GET /favicon.ico': file('getIcon', 'Get the icon of this gateway'),
  'GET /llms.txt': file('getDocumentationList', 'List the documentation for language models'),
  'GET /sitemap.xml': file('getSitemap', 'List the documentation for search engines'),
  'GET /assets/*': file('getAsset', 'Read a file of the dashboard', 'file'),
  'POST /webhooks/stripe': {
    id: 'takeStripeEvent',
    ...forOperation,
    summary: 'Take an event from Stripe',
    description: 'The signature over the body is the permission.',
    parameters: [{ name: 'stripe-signature', in: 'header', schema: Type.String() }],
    body: { content: json(Type.Object({})) },
    answers: {
      200: { description: 'The event was handled.', content: json(answers.StripeReceipt) },
    },
    errors: [...always, ...withBody, 'not_found'],
  },

  'GET /openapi.json': {
    id: 'getApiDescription',
    ...forOperation,
    summary: 'Get this document',
    answers: documentAnswers(),
    errors: always,
  },
  'GET /openapi-dashboard.json': {
    id: 'getDashboardApiDescription',
    ...forOperation,
    summary: 'Get the description of the dashboard’s API',
    answers: documentAnswers(),
    errors: always,
  },

  'GET /healthz': {
    id: 'getHealth',
    ...forOperation,
    summary: 'Tell whether the process lives',
    answers: { 200: { description: 'It lives.', content: json(answers.Health) } },
    errors: always,
  },
  'GET /readyz': {
    id: 'getReadiness',
    ...forOperation,
    summary: 'Tell whether the gateway should get requests',
    description: 'With `Authorization: Bearer <metrics.token>`, the answer has details.',
    answers: {
      200: { description: 'It should.', content: json(answers.Readiness) },
      503: { description: 'It should not.', content: json(answers.Readiness) },
    },
    errors: ['invalid_request', 'internal_error'],
  },
  'GET /metrics': {
    id: 'getMetrics',
    tag: 'Operation',
    summary: 'Get metrics for Prometheus',
    access: 'metrics-token',
    answers: { 200: { description: 'Metrics.', content: { 'text/plain': Type.String() } } },
    errors: ['invalid_request', 'internal_error', 'invalid_api_key', 'not_found'],
  },
} satisfies Readonly<Record<string, Operation>>;

function documentAnswers(): Operation['answers'] {
  return {
    200: {
      description: 'An OpenAPI document.',
      headers: ['etag', 'cache-control'],
      content: json(Type.Object({ openapi: Type.String(), info: Type.Object({}) })),
    },
    304: { description: 'The document is known by `If-None-Match`.', headers: ['etag'] },
  };
}

/** Names of shapes. They are the names of types in generated clients. */
export const publicSchemas = {
  ...answers,
  CacheReport,
  ErrorDetails,
  ErrorFields,
  ...batchSchemas,
  ChatRequest: requests.chat,
  ChatMessage: chat.Message,
  ChatTool: chat.Tool,
  ChatCompletion: chatAnswer.AnswerSchema,
  ChatAnswerMessage: chatAnswer.AnswerMessage,
  ChatToolCall: chatAnswer.ToolCall,
  ChatUsage: chatAnswer.Usage,
  ChatChunk: chatAnswer.Chunk,
  ChatErrorChunk: chatAnswer.ErrorChunk,
  ChatStreamEvent: chatAnswer.StreamEventSchema,
  GeminiRequest: requests.gemini,
  GeminiContent: gemini.content,
  GeminiPart: gemini.part,
  GeminiAnswer: geminiAnswer.AnswerSchema,
  GeminiChunk: geminiAnswer.ChunkSchema,
  GeminiUsage: geminiAnswer.UsageMetadata,
  GeminiStreamEvent: geminiAnswer.StreamEventSchema,
  MessagesRequest: requests.messages,
  MessagesCountRequest: requests.count,
  MessagesMessage: messages.message,
  MessagesBlock: messages.contentBlock,
  MessagesTool: messages.customTool,
  Message: messagesAnswer.AnswerSchema,
  MessageBlock: messagesAnswer.AnswerBlock,
  MessageUsage: messagesAnswer.Usage,
  MessageStreamEvent: messagesAnswer.StreamEventSchema,
  ResponsesRequest: requests.responses,
  ResponsesInputItem: responses.inputItem,
  ResponsesInputPart: responses.contentPart,
  ResponsesTool: responses.tool,
  Response: responsesAnswer.AnswerSchema,
  StreamedResponse: responsesAnswer.StreamedResponse,
  ResponseItem: responsesAnswer.OutputItem,
  ResponsePart: responsesAnswer.AnswerPart,
  ResponseUsage: responsesAnswer.Usage,
  ResponseStreamEvent: responsesAnswer.StreamEventSchema,
  ImageRequest: requests.images,
  SearchRequest: requests.search,
};
