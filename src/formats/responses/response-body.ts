// The response object around the output: the fields that OpenAI's type and the Open Responses
// schema require. Most echo the request.
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { missingFields } from '../edit-json.ts';
import type { AnswerContext } from '../format.ts';
import { shownTier } from '../service-tiers.ts';
import type { ResponsesRequest } from './schema.ts';
import type { EndStatus } from './stop.ts';

type ResponseState = {
  readonly status: EndStatus['status'] | 'in_progress';
  readonly incomplete_details: EndStatus['incomplete_details'];
  readonly output: readonly JsonObject[];
  readonly usage: JsonObject | null;
  /** Left out: not known yet. */
  readonly tier?: string;
  /** Left out: it is completed now, or not at all. */
  readonly completedAtSeconds?: number;
};

export const inProgress: ResponseState = {
  status: 'in_progress',
  incomplete_details: null,
  output: [],
  usage: null,
};

/** `warnings` of the response object: what was not done as requested. Left out when empty. */
type Warning = { readonly code: string; readonly message: string; readonly param: string };

/** The header lists the other unknown fields, too. */
const unknownWarningsMax = 10;

/** `kept`: the provider's own warnings, and ours if the response is written again. */
export function writeWarnings(
  { request, leftOut = [] }: AnswerContext,
  kept: unknown = [],
): { readonly warnings?: readonly unknown[] } {
  const asksForPrevious = (request.body['previous_response_id'] ?? null) !== null;
  const ours = [
    ...(asksForPrevious ? [previousIgnored] : []),
    ...leftOut.slice(0, unknownWarningsMax).map(unknownIgnored),
  ];
  if (ours.length === 0) return {};
  const isOurs = (warning: unknown) =>
    isObject(warning) &&
    ours.some(({ code, param }) => warning.code === code && warning.param === param);
  const others = listOf(kept);
  return { warnings: [...ours, ...others.filter((warning) => !isOurs(warning))] };
}

function unknownIgnored(param: string): Warning {
  return {
    code: 'unknown_field_ignored',
    message: `\`${param}\` is not known here and was ignored.`,
    param,
  };
}

const previousIgnored: Warning = {
  code: 'previous_response_id_ignored',
  message:
    '`previous_response_id` was ignored: nothing is kept between requests, so the model has not seen the earlier turns. ' +
    'Send the whole conversation in `input`, with the output of each response.',
  param: 'previous_response_id',
};

function responseId(context: AnswerContext): string {
  return `resp_${context.requestId}`;
}

/** Returns the required fields that a host's response lacks. */
export function missingHead(response: JsonObject, context: AnswerContext): JsonObject {
  const created_at = context.createdAtSeconds;
  return missingFields(response, { id: responseId(context), object: 'response', created_at });
}

export function completionTime({ createdAtSeconds, nowSeconds }: AnswerContext): number {
  return nowSeconds?.() ?? createdAtSeconds;
}

export function writeResponse(context: AnswerContext, state: ResponseState): JsonObject {
  const request = context.request.body as ResponsesRequest;
  const { status, completedAtSeconds: completedAt = completionTime(context) } = state;
  return {
    id: responseId(context),
    object: 'response',
    created_at: context.createdAtSeconds,
    completed_at: status === 'completed' ? completedAt : null,
    status,
    background: false,
    error: null,
    incomplete_details: state.incomplete_details,
    model: context.model,
    output: state.output,
    usage: state.usage,
    previous_response_id: null,
    store: false,
    service_tier: state.tier ?? shownTier(null, context.request),
    access_programs: null,
    ...echoPrompt(request),
    ...echoSampling(request),
    ...writeWarnings(context),
  };
}

function echoPrompt(request: ResponsesRequest): JsonObject {
  return {
    instructions: request.instructions ?? null,
    tools: (request.tools ?? []).map(echoTool),
    tool_choice: request.tool_choice ?? 'auto',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    text: { ...request.text, format: request.text?.format ?? { type: 'text' } },
    truncation: request.truncation ?? 'disabled',
    metadata: request.metadata ?? {},
    user: request.user ?? null,
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
  };
}

function echoSampling(request: ResponsesRequest): JsonObject {
  return {
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: null,
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    top_logprobs: request.top_logprobs ?? 0,
    presence_penalty: 0,
    frequency_penalty: 0,
    reasoning: {
      effort: request.reasoning?.effort ?? null,
      summary: request.reasoning?.summary ?? null,
    },
  };
}

/** The published type always has these fields; a request often does not. */
function echoTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return { description: null, parameters: null, ...tool, strict: tool.strict ?? null };
}
