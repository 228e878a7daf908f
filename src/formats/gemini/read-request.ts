// Reads a client's body as the canonical request, for a model whose provider speaks another format.
import { budgetOfEffort } from '../../canonical/effort.ts';
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import {
  effortLevels,
  emptyRequest,
  type CanonicalRequest,
  type OutputFormat,
  type Reasoning,
  type Tool,
  type ToolChoice,
} from '../../canonical/request.ts';
import type { UnknownFields } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { givenFields } from '../given-fields.ts';
import { isStrictSchema } from '../openai-schema.ts';
import { readClientSchema } from './client-schema.ts';
import { readConversation } from './read-conversation.ts';
import { streamedArguments } from './field-verdicts.ts';
import type { GeminiRequest, GenerationConfig } from './schema.ts';
import { declarationsOf, leaveOutHosted, refuseUnshareable } from './shared-credential.ts';

/** Throws ApiError `invalid_request` on what the canonical request cannot express. */
export function readRequest(
  { body: asked }: ClientRequest<GeminiRequest>,
  unknown?: UnknownFields,
): CanonicalRequest {
  const { body } = leaveOutHosted(asked);
  const request = refuseUnshareable(body, { unknown });
  const config = request.generationConfig ?? {};
  refuseInexpressible(config);
  const { systemInstruction } = request;
  return {
    ...emptyRequest,
    system: (systemInstruction?.parts ?? []).flatMap(({ text }) =>
      text ? [{ type: 'text', text }] : [],
    ),
    messages: readConversation(request.contents),
    ...readTools(request),
    maxOutputTokens: config.maxOutputTokens ?? null,
    temperature: config.temperature ?? null,
    topP: config.topP ?? null,
    topK: config.topK ?? null,
    seed: config.seed ?? null,
    frequencyPenalty: config.frequencyPenalty ?? null,
    presencePenalty: config.presencePenalty ?? null,
    stopSequences: (config.stopSequences ?? []).filter((sequence) => sequence !== ''),
    reasoning: readReasoning(config.thinkingConfig),
    outputFormat: readOutputFormat(config),
    ...(asked.contents.at(-1)?.role === 'model' ? { isPrefilled: true } : {}),
  };
}

function refuseInexpressible(config: GenerationConfig): void {
  if ((config.candidateCount ?? 1) > 1)
    throw refusal('candidateCount', 'must be 1 for this model: it gives one answer per request');
  if (config.responseLogprobs || config.logprobs)
    throw refusal(
      config.responseLogprobs ? 'responseLogprobs' : 'logprobs',
      'is not supported by this model; leave it out',
    );
  const modalities = config.responseModalities ?? [];
  if (modalities.length > 0 && !modalities.some((word) => /^text$/i.test(word)))
    throw refusal('responseModalities', 'must include `TEXT` for this model');
}

function refusal(name: string, why: string) {
  return invalidRequest(`generationConfig.${name}`, `generationConfig.${name} ${why}`);
}

/** Returns only the allowed functions, if there are several: Messages has no field that lists them. */
function readTools(request: GeminiRequest): Pick<CanonicalRequest, 'tools' | 'toolChoice'> {
  const config = request.toolConfig?.functionCallingConfig;
  const toolChoice = readToolChoice(config);
  const names = new Set(toolChoice?.type === 'tool' ? [] : config?.allowedFunctionNames);
  const offered = declarationsOf(request).filter(({ name }) => names.size === 0 || names.has(name));
  return { tools: offered.map(readTool), toolChoice };
}

type Declaration = ReturnType<typeof declarationsOf>[number];

function readTool({ name, description, parameters, parametersJsonSchema }: Declaration): Tool {
  const schema = parametersJsonSchema ?? (parameters ? readClientSchema(parameters) : null);
  return {
    name,
    description: description ?? null,
    parameters: schema ?? { type: 'object', properties: {} },
    strict: null,
    kind: 'function',
  };
}

type CallingConfig = NonNullable<NonNullable<GeminiRequest['toolConfig']>['functionCallingConfig']>;

/** One allowed function can be demanded; of several, any. */
function readToolChoice(config: CallingConfig | null | undefined): ToolChoice | null {
  const mode = (config?.mode ?? '').toUpperCase();
  const [name, ...others] = config?.allowedFunctionNames ?? [];
  switch (mode) {
    case '':
    case 'MODE_UNSPECIFIED':
      return null;
    case 'AUTO':
    // As `AUTO`, with arguments that match the schema.
    case 'VALIDATED':
      return { type: 'auto' };
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      return name !== undefined && others.length === 0
        ? { type: 'tool', name }
        : { type: 'required' };
    default:
      throw invalidRequest(
        'toolConfig.functionCallingConfig.mode',
        `toolConfig.functionCallingConfig.mode must be AUTO, ANY, NONE or VALIDATED; got ${quoted(mode)}`,
      );
  }
}

/** A budget of -1 leaves the amount to the model. */
function readReasoning(config: GenerationConfig['thinkingConfig']): Reasoning | null {
  if (!config) return null;
  const { thinkingBudget: budget, thinkingLevel, includeThoughts } = config;
  if (thinkingLevel) {
    const level = thinkingLevel.replace(/^THINKING_LEVEL_/i, '').toLowerCase();
    const effort = effortLevels.find((known) => known === level);
    if (!effort && level !== 'unspecified')
      throw refusal(
        'thinkingConfig.thinkingLevel',
        `must be MINIMAL, LOW, MEDIUM or HIGH; got ${quoted(thinkingLevel)}`,
      );
    if (effort) return { effort, budgetTokens: null };
  }
  if (budget === 0) return { effort: 'none', budgetTokens: null };
  // Anthropic refuses less.
  if (budget && budget > 0)
    return { effort: null, budgetTokens: Math.max(budget, budgetOfEffort.low) };
  return includeThoughts || budget === -1 ? { effort: null, budgetTokens: null } : null;
}

function readOutputFormat(config: GenerationConfig): OutputFormat {
  const { responseMimeType, responseSchema, responseJsonSchema } = config;
  if (responseSchema && responseJsonSchema)
    throw refusal('responseSchema', 'cannot be sent beside `responseJsonSchema`');
  const given = responseJsonSchema ?? (responseSchema && readClientSchema(responseSchema));
  switch ((responseMimeType ?? '').toLowerCase()) {
    case 'text/plain':
      return { type: 'text' };
    // A schema without the type means JSON, too.
    case '':
    case 'application/json':
      if (!given) return { type: responseMimeType ? 'json' : 'text' };
      return {
        type: 'json-schema',
        name: 'answer',
        description: null,
        schema: given,
        strict: isStrictSchema(given) ? true : null,
      };
    default:
      throw refusal(
        'responseMimeType',
        `must be \`text/plain\` or \`application/json\` for this model; got ${quoted(responseMimeType)}`,
      );
  }
}

/** Fields without a meaning elsewhere. Unknown ones are listed by the check of fields. */
const unread = (
  'labels store safetySettings toolConfig.retrievalConfig generationConfig.mediaResolution generationConfig.imageConfig ' +
  'generationConfig.audioTimestamp generationConfig.enableEnhancedCivicAnswers contents.parts.mediaResolution ' +
  'contents.parts.partMetadata contents.parts.videoMetadata contents.parts.functionResponse.scheduling ' +
  'tools.functionDeclarations.behavior tools.functionDeclarations.response tools.functionDeclarations.responseJsonSchema'
).split(' ');

/** Lists the fields that `readRequest` leaves out. */
export function ignoredFields({ body }: ClientRequest<GeminiRequest>): string[] {
  const isStreamed = body.toolConfig?.functionCallingConfig?.streamFunctionCallArguments;
  return [
    ...givenFields(body, unread),
    ...(isStreamed ? [streamedArguments] : []),
    ...leaveOutHosted(body).leftOut,
  ];
}
