// The sandbox's host for Google's Gemini. The gateway has no client format for it, so answers are
// written here.
import type { Answer } from '../../canonical/answer.ts';
import type { Stop, StreamEvent } from '../../canonical/event.ts';
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { formatSse } from '../../lib/sse.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import {
  jsonSchema,
  numberOf,
  objectOf,
  objectsOf,
  readStop,
  documentPlaceholder,
  imagePlaceholder,
  stringOf,
  textPart,
  textsOf,
} from './fields.ts';
import type { Host } from './host.ts';

export const gemini: Host = {
  readRequest,
  writeAnswer: ({ content, stop, usage }: Answer, { context }) =>
    writeChunk(content.map(writePart), context, { stop, usage }),
  writeStream: ({ context }) => {
    const write = createStreamWriter(context);
    return (event) =>
      write(event)
        .map((chunk) => formatSse(null, JSON.stringify(chunk)))
        .join('');
  },
};

function readRequest({
  systemInstruction,
  contents,
  tools,
  toolConfig,
  generationConfig,
}: JsonObject): SandboxRequest {
  const config = objectOf(generationConfig);
  return {
    system: textsOf(objectOf(systemInstruction).parts),
    messages: objectsOf(contents).flatMap(readContent),
    tools: objectsOf(tools).flatMap(({ functionDeclarations }) =>
      objectsOf(functionDeclarations).map(readTool),
    ),
    toolChoice: readChoice(objectOf(objectOf(toolConfig).functionCallingConfig)),
    parallelToolCalls: null,
    maxOutputTokens: numberOf(config.maxOutputTokens),
    stopSequences: readStop(config.stopSequences),
    reasoning: readReasoning(objectOf(config.thinkingConfig)),
    outputFormat: readOutputFormat(config),
  };
}

/**
 * Tool results come first in a turn. Attachments of a result follow them under a heading; they are
 * not a new question, so they are skipped.
 */
function readContent({ role, parts }: JsonObject): Message[] {
  const listed = objectsOf(parts);
  if (role === 'model') return [{ role: 'assistant', content: listed.flatMap(readModelPart) }];
  const results = listed.flatMap(({ functionResponse }) =>
    objectsOf([functionResponse]).map(readResult),
  );
  const rest = listed.flatMap(readUserPart);
  const isAttached =
    results.length > 0 &&
    rest[0]?.type === 'text' &&
    rest[0].text.startsWith('[Attachments of the result of tool call ');
  return [
    ...(results.length > 0 ? [{ role: 'tool', content: results } as const] : []),
    ...((rest.length > 0 || results.length === 0) && !isAttached
      ? [{ role: 'user', content: rest } as const]
      : []),
  ];
}

function readResult({ id, name, response }: JsonObject) {
  const { error, output } = objectOf(response);
  const isError = error !== undefined;
  const content = [textPart(isError ? error : output)];
  return { type: 'tool-result', callId: stringOf(id) || stringOf(name), content, isError } as const;
}

function readUserPart({ text, inlineData, fileData }: JsonObject): UserPart[] {
  if (typeof text === 'string') return [textPart(text)];
  const { mimeType } = objectOf(inlineData ?? fileData);
  if (mimeType === undefined) return [];
  return [stringOf(mimeType).startsWith('image/') ? imagePlaceholder : documentPlaceholder];
}

function readModelPart({ text, thought, functionCall }: JsonObject): AssistantPart[] {
  if (functionCall !== undefined) {
    const { id, name, args } = objectOf(functionCall);
    const call = { id: stringOf(id), name: stringOf(name), arguments: JSON.stringify(args ?? {}) };
    return [{ type: 'tool-call', ...call, kind: 'function' }];
  }
  if (typeof text !== 'string') return [];
  return [
    thought === true
      ? { type: 'thinking', text, signature: null, redacted: false }
      : textPart(text),
  ];
}

function readTool({ name, description, parametersJsonSchema, parameters }: JsonObject): Tool {
  const schema = objectOf(parametersJsonSchema ?? parameters);
  return {
    name: stringOf(name),
    description: stringOf(description) || null,
    parameters: schema,
    strict: null,
    kind: 'function',
  };
}

function readChoice({ mode, allowedFunctionNames }: JsonObject): ToolChoice | null {
  const [name] = readStop(allowedFunctionNames);
  if (mode === 'ANY') return name === undefined ? { type: 'required' } : { type: 'tool', name };
  return mode === 'NONE' ? { type: 'none' } : null;
}

function readReasoning({ includeThoughts }: JsonObject): Reasoning | null {
  return includeThoughts === true ? { effort: 'medium', budgetTokens: null } : null;
}

function readOutputFormat({
  responseMimeType,
  responseJsonSchema,
  responseSchema,
}: JsonObject): OutputFormat {
  const schema = responseJsonSchema ?? responseSchema;
  if (schema !== undefined) return jsonSchema(schema);
  return responseMimeType === 'application/json' ? { type: 'json' } : { type: 'text' };
}

/** Collects the deltas of each call, because Gemini sends calls whole. */
function createStreamWriter(context: AnswerContext): (event: StreamEvent) => readonly JsonObject[] {
  let call: { readonly id: string; readonly name: string; text: string } | null = null;
  return (event) => {
    switch (event.type) {
      case 'start':
        return event.usage ? [writeChunk([], context, { stop: null, usage: event.usage })] : [];
      case 'text-delta':
        return [writeChunk([{ text: event.text }], context)];
      case 'thinking-delta':
        return [writeChunk([{ text: event.text, thought: true }], context)];
      case 'tool-call-start':
        call = { id: event.id, name: event.name, text: '' };
        return [];
      case 'tool-call-delta':
        if (call) call.text += event.text;
        return [];
      case 'tool-call-end':
        return call ? [writeChunk([writeCall(call)], context)] : [];
      case 'finish':
        return [writeChunk([], context, event)];
      default:
        return [];
    }
  };
}

function writePart(part: AssistantPart): JsonObject {
  if (part.type === 'tool-call') return writeCall({ ...part, text: part.arguments });
  const text = 'text' in part ? part.text : '';
  return part.type === 'thinking' ? { text, thought: true } : { text };
}

/** A call that the output limit cut off has no arguments. */
function writeCall({
  id,
  name,
  text,
}: {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}): JsonObject {
  return { functionCall: { id, name, args: parse(text) } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

type Ending = { readonly stop: Stop | null; readonly usage: Usage | null };

function writeChunk(
  parts: readonly JsonObject[],
  { model, requestId }: AnswerContext,
  { stop, usage }: Ending = going,
): JsonObject {
  const finished = stop && { finishReason: stop.reason === 'length' ? 'MAX_TOKENS' : 'STOP' };
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...finished }],
    ...(usage && { usageMetadata: writeUsage(usage) }),
    modelVersion: model,
    responseId: requestId,
  };
}

const going: Ending = { stop: null, usage: null };

/** Gemini counts thoughts separately from the answer. */
function writeUsage({ inputTokens, outputTokens, reasoningTokens }: Usage): JsonObject {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens - reasoningTokens,
    thoughtsTokenCount: reasoningTokens,
    totalTokenCount: inputTokens + outputTokens,
  };
}
