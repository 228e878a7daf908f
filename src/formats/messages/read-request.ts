// A client's body to the canonical request, for a model that is reached in another format.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, OutputFormat, Reasoning, TextPart, Tool, ToolChoice } from '../../canonical/request.ts';
import { isAskedFor, type OpenedFields } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { verdictTable } from './field-verdicts.ts';
import { ignoredMessageFields, ignoredThinkingFields, ignoredToolFields } from './ignored-fields.ts';
import { readCacheControl } from './media.ts';
import { isStrictSchema } from './output-schema.ts';
import { readMessages, readTexts } from './read-message.ts';
import type { CustomTool, MessagesRequest } from './schema.ts';
import { refuseSharedState } from './shared-credential.ts';

/** Throws ApiError `invalid_request` on what no canonical request can express. */
export function readRequest({ body }: ClientRequest, opened?: OpenedFields): CanonicalRequest {
  refuseSharedState(body, { opened });
  const request = body as MessagesRequest;
  return {
    system: readSystem(request),
    messages: readMessages(request.messages),
    tools: (request.tools ?? []).map((tool, index) => readTool(tool, `tools[${index}]`)),
    ...readToolChoice(request.tool_choice),
    maxOutputTokens: request.max_tokens,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    topK: request.top_k ?? null,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    stopSequences: request.stop_sequences ?? [],
    reasoning: readReasoning(request),
    outputFormat: readOutputFormat(request),
    endUser: request.metadata?.user_id ?? null,
    metadata: null,
    promptCacheKey: null,
    ...(request.messages.at(-1)?.role === 'assistant' ? { isPrefilled: true } : {}),
  };
}

/**
 * Claude Code puts a line about itself, which changes with every request, ahead of its instructions. Anthropic takes it out again;
 * anywhere else it would reach the model and spoil the prompt cache.
 */
const attribution = 'x-anthropic-billing-header:';

function readSystem({ system }: MessagesRequest): TextPart[] {
  return readTexts(system ?? [], 'system').filter((part) => !part.text.startsWith(attribution));
}

function readTool(tool: CustomTool, path: string): Tool {
  if ((tool.type ?? 'custom') !== 'custom') {
    throw invalidRequest(
      `${path}.type`,
      `${path}.type \`${String(tool.type)}\` is known to Anthropic's API alone and cannot be sent to this model; define the tool with an input_schema`,
    );
  }
  return {
    name: tool.name,
    description: tool.description ?? null,
    parameters: tool.input_schema,
    strict: tool.strict ?? null,
    kind: 'function',
    ...readCacheControl(tool.cache_control),
  };
}

function readToolChoice(choice: MessagesRequest['tool_choice']): Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'> {
  if (!choice) return { toolChoice: null, parallelToolCalls: null };
  const disabled = choice.type === 'none' ? null : choice.disable_parallel_tool_use;
  return { toolChoice: readChoice(choice), parallelToolCalls: typeof disabled === 'boolean' ? !disabled : null };
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

/** A budget says more than an effort, so it wins where both are given; `effort` alone asks for as much without thinking on Claude. */
function readReasoning({ thinking, output_config: config }: MessagesRequest): Reasoning | null {
  if (thinking?.type === 'disabled') return { effort: 'none', budgetTokens: null };
  if (thinking?.type === 'enabled') return { effort: null, budgetTokens: thinking.budget_tokens };
  const effort = config?.effort ?? null;
  return thinking || effort ? { effort, budgetTokens: null } : null;
}

function readOutputFormat({ output_config: config, output_format: older }: MessagesRequest): OutputFormat {
  const format = config?.format ?? older;
  if (!format) return { type: 'text' };
  const strict = isStrictSchema(format.schema) ? true : null;
  return { type: 'json-schema', name: 'answer', description: null, schema: format.schema, strict };
}

const readFields: ReadonlySet<string> = new Set(
  (
    'model max_tokens messages system stream temperature top_p top_k stop_sequences tools tool_choice thinking output_config ' +
    'output_format metadata'
  ).split(' '),
);

/** The fields that `readRequest` leaves out: those of the official types, and by name no others, since any text can be a field's name. */
export function ignoredFields({ body }: ClientRequest): string[] {
  const request = body as MessagesRequest;
  const ignored = Object.keys(body).filter(
    (name) => !readFields.has(name) && Object.hasOwn(verdictTable.request, name) && isAskedFor(body[name]),
  );
  if (request.system && readSystem(request).length < readTexts(request.system, 'system').length) ignored.push('system');
  return [...ignored, ...ignoredToolFields(request), ...ignoredThinkingFields(request), ...ignoredMessageFields(request)];
}
