// Reads a client's body as the canonical request, for a model whose provider speaks another format.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import {
  emptyRequest,
  type CanonicalRequest,
  type OutputFormat,
  type Reasoning,
  type TextPart,
  type Tool,
  type ToolChoice,
} from '../../canonical/request.ts';
import { isAskedFor, type UnknownFields } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { givenFields } from '../given-fields.ts';
import { isStrictSchema } from '../openai-schema.ts';
import { verdictTable } from './field-verdicts.ts';
import {
  ignoredMessageFields,
  ignoredMetadata,
  ignoredThinkingFields,
  unread,
} from './ignored-fields.ts';
import { readCacheControl } from './media.ts';
import { leaveOutHosted } from './optional-tools.ts';
import { readConversation, readTexts } from './read-conversation.ts';
import type { CustomTool, MessagesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { withAddedTools } from './tool-changes.ts';

/** Throws ApiError `invalid_request` on what the canonical request cannot express. */
export function readRequest(
  { body: asked }: ClientRequest<MessagesRequest>,
  unknown?: UnknownFields,
): CanonicalRequest {
  const { body: request } = leaveOutHosted(asked);
  refuseUnshareable(request, { unknown });
  return {
    ...emptyRequest,
    system: readSystem(request),
    messages: readConversation(request.messages),
    tools: (withAddedTools(request).tools ?? []).map((tool, index) =>
      readTool(tool, `tools[${index}]`),
    ),
    ...readToolChoice(request.tool_choice),
    maxOutputTokens: request.max_tokens,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    topK: request.top_k ?? null,
    stopSequences: (request.stop_sequences ?? []).filter((sequence) => sequence !== ''),
    reasoning: readReasoning(request),
    outputFormat: readOutputFormat(request),
    endUser: request.metadata?.user_id ?? null,
    ...(request.messages.at(-1)?.role === 'assistant' ? { isPrefilled: true } : {}),
  };
}

/**
 * Claude Code puts a line about itself before its instructions; it changes with every request.
 * Anthropic removes it. Elsewhere it would reach the model and spoil the prompt cache.
 */
const attribution = 'x-anthropic-billing-header:';

function readSystem({ system }: MessagesRequest): TextPart[] {
  return readTexts(system ?? [], 'system').filter((part) => !part.text.startsWith(attribution));
}

function readTool(tool: CustomTool, path: string): Tool {
  if ((tool.type ?? 'custom') !== 'custom') {
    throw invalidRequest(
      `${path}.type`,
      `${path}.type ${quoted(tool.type)} exists only in Anthropic's API and cannot be sent to this model; define the tool with an input_schema`,
    );
  }
  return {
    name: tool.name,
    description: tool.description ?? null,
    parameters: tool.input_schema,
    strict: isLooseStrict(tool) ? null : (tool.strict ?? null),
    kind: 'function',
    ...readCacheControl(tool.cache_control),
  };
}

/** Anthropic's `strict` allows optional arguments; no other vendor's does. */
function isLooseStrict({ strict, input_schema: schema }: CustomTool): boolean {
  return strict === true && !isStrictSchema(schema);
}

function readToolChoice(
  choice: MessagesRequest['tool_choice'],
): Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'> {
  if (!choice) return { toolChoice: null, parallelToolCalls: null };
  const disabled = choice.type === 'none' ? null : choice.disable_parallel_tool_use;
  return {
    toolChoice: readChoice(choice),
    parallelToolCalls: typeof disabled === 'boolean' ? !disabled : null,
  };
}

function readChoice(choice: NonNullable<MessagesRequest['tool_choice']>): ToolChoice {
  switch (choice.type) {
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', name: choice.name };
    case 'auto':
    case 'none':
      return { type: choice.type };
  }
}

/** A budget wins over an effort. `effort` without thinking makes Claude work harder too. */
function readReasoning({ thinking, output_config: config }: MessagesRequest): Reasoning | null {
  if (thinking?.type === 'disabled') return { effort: 'none', budgetTokens: null };
  if (thinking?.type === 'enabled') return { effort: null, budgetTokens: thinking.budget_tokens };
  const effort = config?.effort ?? null;
  return thinking || effort ? { effort, budgetTokens: null } : null;
}

function readOutputFormat({
  output_config: config,
  output_format: older,
}: MessagesRequest): OutputFormat {
  const format = config?.format ?? older;
  if (!format) return { type: 'text' };
  const strict = isStrictSchema(format.schema) ? true : null;
  return { type: 'json-schema', name: 'answer', description: null, schema: format.schema, strict };
}

const readFields: ReadonlySet<string> = new Set(
  (
    'model max_tokens messages system stream temperature top_p top_k stop_sequences tools tool_choice thinking output_config ' +
    'output_format metadata speed'
  ).split(' '),
);

/**
 * Returns the fields that `readRequest` leaves out. Names only those of the official types, because
 * any text can be a field's name.
 */
export function ignoredFields({ body }: ClientRequest<MessagesRequest>): string[] {
  const { body: request, leftOut } = leaveOutHosted(body);
  const ignored = Object.keys(request).filter(
    (name) =>
      !readFields.has(name) &&
      Object.hasOwn(verdictTable.request, name) &&
      isAskedFor(request[name]),
  );
  if (request.system && readSystem(request).length < readTexts(request.system, 'system').length)
    ignored.push('system');
  if ((request.tools ?? []).some(isLooseStrict)) ignored.push('tools.strict');
  return [
    ...ignored,
    ...leftOut,
    ...givenFields(request, unread),
    ...ignoredThinkingFields(request),
    ...ignoredMessageFields(request),
    ...ignoredMetadata(request),
  ];
}
