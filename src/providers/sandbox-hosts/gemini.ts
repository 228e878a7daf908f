// The sandbox's host for Google's Gemini.
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { gemini as format } from '../../formats/gemini/index.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import {
  jsonSchema,
  numberOf,
  objectOf,
  objectsOf,
  readStop,
  documentPlaceholder,
  soundPart,
  imagePlaceholder,
  stringOf,
  textPart,
  textsOf,
} from './fields.ts';
import { changeFrames } from './frames.ts';
import type { AnswerOptions, Host } from './host.ts';

export const gemini: Host = {
  readRequest,
  writeAnswer: (answer, options) =>
    changeBody(format.writeAnswer(answer, options.context), options),
  writeStream: (options) => {
    const pipe = format.writeStream(options.context);
    return (event) => {
      const frames = pipe.push(event) + (event.type === 'finish' ? pipe.close(0) : '');
      return options.hasUsage ? frames : changeFrames(frames, (data) => changeBody(data, options));
    };
  },
};

function changeBody(
  { usageMetadata, ...body }: JsonObject,
  { hasUsage }: AnswerOptions,
): JsonObject {
  return hasUsage ? { ...body, usageMetadata } : body;
}

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
  if (stringOf(mimeType).startsWith('audio/')) return [soundPart(inlineData)];
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
