// The Open Responses specification's requirements for a response and each stream event
// (openresponses.org, read 2026-11-21). All fields of a response are required, and null when empty.
// One name differs, because we follow OpenAI: raw reasoning streams as
// `response.reasoning_text.delta`, not `response.reasoning.delta`.
import { z } from 'zod';

const count = z.int().nonnegative();
const textOrNull = z.string().nullable();
const open = (fields: Record<string, z.ZodType>) => z.looseObject(fields);

const outputText = open({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(open({ type: z.string() })),
});
const refusal = open({ type: z.literal('refusal'), refusal: z.string() });
const reasoningText = open({ type: z.literal('reasoning_text'), text: z.string() });
const summaryText = open({ type: z.literal('summary_text'), text: z.string() });
const part = z.union([outputText, refusal, reasoningText, summaryText]);

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']);
const message = open({
  type: z.literal('message'),
  id: z.string().min(1),
  status: itemStatus,
  role: z.literal('assistant'),
  content: z.array(z.union([outputText, refusal])),
});
const functionCall = open({
  type: z.literal('function_call'),
  id: z.string().min(1),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  status: itemStatus,
});
const reasoningItem = open({
  type: z.literal('reasoning'),
  id: z.string().min(1),
  summary: z.array(summaryText),
  content: z.array(reasoningText).optional(),
  encrypted_content: z.string().optional(),
});
const item = z.union([message, functionCall, reasoningItem]);

const functionTool = open({
  type: z.literal('function'),
  name: z.string(),
  description: textOrNull,
  parameters: z.looseObject({}).nullable(),
  strict: z.boolean().nullable(),
});
const usage = open({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: open({ cached_tokens: count }),
  output_tokens_details: open({ reasoning_tokens: count }),
});

export const responseSchema = open({
  id: z.string().min(1),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: open({ reason: z.string() }).nullable(),
  model: z.string().min(1),
  previous_response_id: textOrNull,
  instructions: textOrNull,
  output: z.array(item),
  error: open({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(functionTool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), open({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: open({ format: open({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: open({ effort: textOrNull, summary: textOrNull }).nullable(),
  usage: usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: textOrNull,
  prompt_cache_key: textOrNull,
});

const onItem = { output_index: count, item };
const inItem = { item_id: z.string().min(1), output_index: count };
const inPart = { ...inItem, content_index: count };
const inSummary = { ...inItem, summary_index: count };
const whole = { response: responseSchema };

const eventFields: Readonly<Record<string, Record<string, z.ZodType>>> = {
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.incomplete': whole,
  'response.failed': whole,
  'response.output_item.added': onItem,
  'response.output_item.done': onItem,
  'response.content_part.added': { ...inPart, part },
  'response.content_part.done': { ...inPart, part },
  'response.output_text.delta': { ...inPart, delta: z.string() },
  'response.output_text.done': { ...inPart, text: z.string() },
  'response.refusal.delta': { ...inPart, delta: z.string() },
  'response.refusal.done': { ...inPart, refusal: z.string() },
  'response.reasoning_text.delta': { ...inPart, delta: z.string() },
  'response.reasoning_text.done': { ...inPart, text: z.string() },
  'response.reasoning_summary_part.added': { ...inSummary, part: summaryText },
  'response.reasoning_summary_part.done': { ...inSummary, part: summaryText },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: z.string() },
  'response.reasoning_summary_text.done': { ...inSummary, text: z.string() },
  'response.function_call_arguments.delta': { ...inItem, delta: z.string() },
  'response.function_call_arguments.done': { ...inItem, arguments: z.string() },
};

const eventSchemas = Object.entries(eventFields).map(([type, fields]) =>
  z.looseObject({ type: z.literal(type), sequence_number: count, ...fields }),
);
export const eventSchema = z.discriminatedUnion(
  'type',
  eventSchemas as unknown as [(typeof eventSchemas)[number]],
);
