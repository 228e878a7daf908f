// Descriptions of every request field, for the reference. The compiler demands a line for each field
// of a schema. They are not in the schemas, which also check every request.
import { Type, type TObject, type TProperties, type TSchema } from 'typebox';
import { ImageRequestSchema } from '../domain/images/image-request.ts';
import { SearchRequestSchema } from '../domain/search/search-request.ts';
import * as chat from '../formats/chat/schema.ts';
import { countRequestSchema } from '../formats/messages/count-tokens.ts';
import * as messages from '../formats/messages/schema.ts';
import * as responses from '../formats/responses/schema.ts';

type Words<Schema> =
  Schema extends TObject<infer Fields extends TProperties>
    ? Readonly<Record<keyof Fields & string, string>>
    : never;

const sampling = {
  temperature: 'How random the answer is. Models that refuse it get the request without it.',
  top_p: 'Limits the choice of tokens to the likeliest that together have this probability.',
};
const stream = '`true`: the answer comes as an event stream. Default `false`.';
const toolChoice =
  'Whether the model may, must or must not call a tool, or which one it must call.';
const parallel = '`false`: at most one call a turn. Default `true`.';
const metadata = 'Names and values of your own. They count as tags of the request.';
const user = 'Your name for the end user. The provider gets a digest of it.';
const safetyUser = 'The newer name of `user`.';
const cacheKey = 'Groups requests that begin alike, so that the provider’s prompt cache hits.';
const store = 'Ignored: nothing is kept at the provider.';
const tier = 'Only `auto` and `default`: other tiers have no price here.';
const verbosity = 'How long the text of the answer should be.';
const topLogprobs = 'How many alternatives `logprobs` lists for each token.';
const outputLimit =
  'The most tokens of the answer, with its reasoning. More than the model’s limit becomes that limit.';
const modelId = 'The id or alias of a model, as `GET /v1/models` lists it.';

const responseWords: Words<typeof responses.RequestSchema> = {
  model: modelId,
  input: 'What to answer: a text, or items with the whole conversation. Required.',
  instructions: 'Instructions ahead of the conversation.',
  stream,
  max_output_tokens: outputLimit,
  ...sampling,
  tools: 'Functions that the model may call, and tools that its provider runs.',
  tool_choice: toolChoice,
  parallel_tool_calls: parallel,
  reasoning: '`effort`: how much the model thinks. `summary`: whether it sums its thoughts up.',
  truncation: '`auto`: OpenAI drops the oldest items of a conversation that is too long.',
  previous_response_id: 'Ignored: send the whole conversation in `input`.',
  store,
  text: '`format`: plain text, JSON, or JSON by a schema. `verbosity`: how long the text should be.',
  metadata,
  user,
  safety_identifier: safetyUser,
  include: 'More to return, such as `message.output_text.logprobs`.',
  service_tier: tier,
  prompt_cache_key: cacheKey,
  top_logprobs: topLogprobs,
};

const chatWords: Words<typeof chat.RequestSchema> = {
  model: modelId,
  messages: 'The whole conversation.',
  max_tokens:
    'The most tokens of the answer: at most 2,048, unless the operator sets `limits.chat_max_tokens`.',
  max_completion_tokens: outputLimit,
  ...sampling,
  stream,
  stream_options: '`include_usage: true`: the stream ends with the usage and its cost.',
  n: 'How many answers to write. Each is charged.',
  stop: 'Texts at which the answer ends. They are not part of it.',
  tools: 'Functions and custom tools that the model may call.',
  tool_choice: toolChoice,
  parallel_tool_calls: parallel,
  response_format: 'Plain text, JSON, or JSON by a schema.',
  reasoning_effort: 'How much the model thinks.',
  frequency_penalty: 'Above 0, the model repeats words less often.',
  presence_penalty: 'Above 0, the model turns to new subjects more often.',
  logit_bias: 'Makes tokens likelier or less likely, by their numbers.',
  logprobs: '`true`: the answer has the log probability of each token.',
  top_logprobs: topLogprobs,
  seed: 'The same number and request give a similar answer, where the model supports it.',
  top_k: 'Limits the choice to so many likeliest tokens. Not for OpenAI’s models.',
  user,
  safety_identifier: safetyUser,
  prompt_cache_key: cacheKey,
  verbosity,
  metadata,
  store,
  modalities: 'Only `["text"]`.',
  service_tier: tier,
  functions: 'The older form of `tools`.',
};

const messageWords: Words<typeof messages.requestSchema> = {
  model: modelId,
  max_tokens: outputLimit,
  messages: 'The whole conversation.',
  system: 'Instructions ahead of the conversation.',
  stream,
  ...sampling,
  top_k: 'Limits the choice to so many likeliest tokens.',
  stop_sequences: 'Texts at which the answer ends. They are not part of it.',
  tools: 'Tools that the model may call, and tools that its provider runs.',
  tool_choice: toolChoice,
  thinking: 'Whether the model thinks first, and with how many tokens.',
  output_config: '`effort`: how hard the model works. `format`: JSON by a schema.',
  output_format: 'The older form of `output_config.format`.',
  metadata:
    '`user_id`: your name for the end user, of which the provider gets a digest. Other entries are tags.',
  cache_control: 'Marks the conversation for Anthropic’s prompt cache.',
};

const imageWords: Words<typeof ImageRequestSchema> = {
  model: 'The id of an image model, as `GET /v1/models` lists it.',
  prompt: 'What to draw, or what to change.',
  images: 'The pictures to change or to follow, as addresses or data URLs.',
  n: 'How many images to make. Each is charged. Default 1.',
  size: 'Width and height, such as `1024x1024`, for models with pixel sizes.',
  quality: 'The quality, for models that sell several.',
  aspect_ratio: 'The shape, such as `16:9`, for models with shapes.',
  resolution: 'The resolution, such as `2K`, for models with shapes.',
  output_format: 'The file format, for models that offer several.',
  response_format: '`url`: links to the images (default). `b64_json`: the images themselves.',
};

const searchWords: Words<typeof SearchRequestSchema> = {
  query: 'What to search for.',
  num: 'How many pages to return. Default 10.',
};

/** As `RequestSchema`, but `input` is required: `parseRequest` refuses a request without it. */
const responseRequest = Type.Object({
  ...responses.RequestSchema.properties,
  input: Type.Union([Type.String(), Type.Array(responses.inputItem, { minItems: 1 })]),
});

export const requests = {
  responses: describe(responseRequest, responseWords),
  chat: describe(chat.RequestSchema, chatWords),
  messages: describe(messages.requestSchema, messageWords),
  count: describe(countRequestSchema, messageWords),
  images: describe(ImageRequestSchema, imageWords),
  search: describe(SearchRequestSchema, searchWords),
};

function describe(schema: TObject, words: Readonly<Record<string, string>>): TSchema {
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    { ...field, description: words[name] },
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}
