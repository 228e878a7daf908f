// Reads a client's request for a model whose provider speaks another format. Fields that the
// canonical request cannot express are refused by name if they would change the answer, else
// listed.
import { refuseField } from '../../canonical/errors.ts';
import type { CanonicalRequest, OutputFormat, Tool, ToolChoice } from '../../canonical/request.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { isAskedFor, type UnknownFields } from '../field-verdicts.ts';
import { needed } from '../fit-to-host.ts';
import type { ClientRequest } from '../format.ts';
import { readAskedReasoning, unreadReasoning } from './asked-reasoning.ts';
import { ignoredMessageFields, readCacheControl, readConversation } from './read-conversation.ts';
import { leaveOutUnsent } from './optional-tools.ts';
import type { ChatRequest, ChatResponseFormat, ChatTool, ChatToolChoice } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';

/** Throws ApiError `invalid_request` that names the field. */
export function readRequest(
  { body: asked, maxOutputTokens }: ClientRequest<ChatRequest>,
  unknown?: UnknownFields,
): CanonicalRequest {
  const { body: request } = leaveOutUnsent(asked);
  refuseUnshareable(request, { unknown });
  refuseInexpressible(request);
  const { stop } = request;
  return {
    ...readConversation(request.messages),
    ...readTools(request),
    parallelToolCalls: request.parallel_tool_calls ?? null,
    maxOutputTokens,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    topK: request.top_k ?? null,
    seed: request.seed ?? null,
    frequencyPenalty: request.frequency_penalty ?? null,
    presencePenalty: request.presence_penalty ?? null,
    stopSequences: readStopSequences(stop),
    reasoning: readAskedReasoning(request)?.reasoning ?? null,
    outputFormat: readOutputFormat(request.response_format ?? null),
    endUser: request.user ?? request.safety_identifier ?? null,
    metadata: request.metadata ?? null,
    promptCacheKey: request.prompt_cache_key ?? null,
    ...(request.prompt_cache_retention && {
      promptCacheRetention: request.prompt_cache_retention,
    }),
    ...(request.verbosity ? { verbosity: request.verbosity } : null),
    ...(isBegun(request.messages.at(-1)) && { isPrefilled: true }),
  };
}

/** True when a mark of Mistral, DeepSeek or Kimi says that the answer goes on from this message. */
function isBegun(last: JsonObject | undefined): boolean {
  return last?.role === 'assistant' && (last.prefix === true || last.partial === true);
}

/** Returns the non-empty stop sequences: hosts refuse empty ones. */
export function readStopSequences(stop: ChatRequest['stop']): string[] {
  return (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence !== '');
}

/** Lists the non-empty fields that `readRequest` leaves out, unknown ones included. */
export function ignoredFields({ body }: ClientRequest<ChatRequest>): readonly string[] {
  const thinking = readAskedReasoning(body)?.name ?? '';
  const isRead = (name: string) => readFields.has(name) || name === thinking;
  const names = Object.keys(body).filter(
    (name) => !isRead(name) && isAskedFor(body[name]) && !isEmptyObject(body[name]),
  );
  if (body.user && body.safety_identifier) names.push('safety_identifier');
  return [
    ...names,
    ...unreadReasoning(body, thinking),
    ...leaveOutUnsent(body).leftOut,
    ...ignoredMessageFields(body.messages),
  ];
}

/** Fields that are read above or that have no effect when they are allowed. */
const readFields = new Set(
  (
    'model messages max_tokens max_completion_tokens temperature top_p top_k stream stream_options n stop tools tool_choice ' +
    'parallel_tool_calls response_format reasoning_effort frequency_penalty presence_penalty seed user safety_identifier ' +
    'prompt_cache_key prompt_cache_retention verbosity metadata modalities service_tier logprobs top_logprobs logit_bias functions function_call'
  ).split(' '),
);

function refuseInexpressible(body: JsonObject): void {
  for (const [name, why] of Object.entries(needed))
    if (isAskedFor(body[name]) && body[name] !== 1) refuseField(name, why);
  for (const name of ['logprobs', 'top_logprobs', 'logit_bias']) {
    if (isAskedFor(body[name]) && body[name] !== 0 && !isEmptyObject(body[name])) {
      refuseField(name, 'is not supported by this model; leave it out');
    }
  }
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function readTool(tool: ChatTool, index: number): Tool {
  if ('function' in tool) {
    const { name, description, parameters, strict } = tool.function;
    return {
      name,
      description: description ?? null,
      parameters: parameters ? (parameters as JsonObject) : { type: 'object', properties: {} },
      strict: strict ?? null,
      kind: 'function',
      ...readCacheControl(tool),
    };
  }
  if (!('custom' in tool))
    return refuseField(`tools[${index}].type`, 'must be `function` or `custom`');
  const { name, description, format } = tool.custom;
  const grammar = format && readGrammar(format, `tools[${index}].custom.format`);
  return {
    name,
    description: description ?? null,
    parameters: null,
    strict: null,
    kind: 'custom',
    ...(grammar ? { grammar } : null),
  };
}

function readGrammar(format: JsonObject, path: string): Tool['grammar'] {
  if (format.type === 'text') return undefined;
  const { syntax, definition } = objectOf(format.grammar);
  if (format.type === 'grammar' && typeof syntax === 'string' && typeof definition === 'string')
    return { syntax, definition };
  return refuseField(
    path,
    'must be `{"type":"text"}`, or `{"type":"grammar","grammar":{"syntax":…,"definition":…}}`',
  );
}

/** A choice among some of the tools offers only these. */
function readTools({
  tools = [],
  tool_choice: choice = null,
}: ChatRequest): Pick<CanonicalRequest, 'tools' | 'toolChoice'> {
  const all = (tools ?? []).map(readTool);
  if (choice === null || typeof choice === 'string' || !('allowed_tools' in choice)) {
    return { tools: all, toolChoice: readToolChoice(choice) };
  }
  const { mode, names } = readAllowedTools(choice);
  return { tools: all.filter((tool) => names.has(tool.name)), toolChoice: { type: mode } };
}

export function readAllowedTools({ allowed_tools: allowed }: JsonObject): {
  mode: 'auto' | 'required';
  names: ReadonlySet<unknown>;
} {
  const path = 'tool_choice.allowed_tools';
  if (!isObject(allowed) || !Array.isArray(allowed.tools))
    return refuseField(`${path}.tools`, 'must be a list of tools');
  if (allowed.mode !== 'auto' && allowed.mode !== 'required')
    return refuseField(`${path}.mode`, 'must be `auto` or `required`');
  const names = allowed.tools.map((tool: unknown, index) => {
    const named = isObject(tool) ? (tool.function ?? tool.custom) : null;
    return isObject(named) && typeof named.name === 'string'
      ? named.name
      : refuseField(`${path}.tools[${index}]`, 'must name a tool');
  });
  return { mode: allowed.mode, names: new Set(names) };
}

function readToolChoice(choice: ChatToolChoice | null): ToolChoice | null {
  if (choice === null) return null;
  if (typeof choice === 'string') return { type: choice };
  if ('function' in choice) return { type: 'tool', name: choice.function.name };
  if ('custom' in choice) return { type: 'tool', name: choice.custom.name };
  return refuseField(
    'tool_choice.type',
    'must be `function`, `custom` or `allowed_tools` for this model',
  );
}

function readOutputFormat(format: ChatResponseFormat | null): OutputFormat {
  if (format === null || format.type === 'text') return { type: 'text' };
  // Hosts other than OpenAI take a schema there.
  if (format.type === 'json_object')
    return 'schema' in format && isObject(format.schema)
      ? {
          type: 'json-schema',
          name: 'answer',
          description: null,
          schema: format.schema,
          strict: null,
        }
      : { type: 'json' };
  if (!('json_schema' in format)) {
    return refuseField(
      'response_format.type',
      'must be `text`, `json_object` or `json_schema` for this model',
    );
  }
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json-schema',
    name,
    description: description ?? null,
    schema: (schema ?? {}) as JsonObject,
    strict: strict ?? null,
  };
}
