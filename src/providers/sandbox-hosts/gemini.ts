// The sandbox's host for Google's Gemini.
import type { OutputFormat } from '../../canonical/request.ts';
import { gemini as format } from '../../formats/gemini/index.ts';
import { type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { writersOf } from './frames.ts';
import type { Host } from './host.ts';
import {
  jsonSchema,
  numberOf,
  readChoice,
  readMessage,
  readParts,
  readStop,
  readTool,
  textsOf,
} from './reading.ts';

export const gemini: Host = { readRequest, ...writersOf(format, withoutUsage) };

function withoutUsage({ usageMetadata: _usage, ...body }: JsonObject): JsonObject {
  return body;
}

function readRequest({
  systemInstruction,
  contents,
  tools,
  toolConfig,
  generationConfig,
}: JsonObject): SandboxRequest {
  const config = objectOf(generationConfig);
  const { mode, allowedFunctionNames } = objectOf(objectOf(toolConfig).functionCallingConfig);
  const [name] = readStop(allowedFunctionNames);
  return {
    system: textsOf(objectOf(systemInstruction).parts),
    messages: objectsOf(contents).flatMap(({ role, parts }) =>
      readMessage(role === 'model' ? 'assistant' : 'user', readParts(parts)),
    ),
    tools: objectsOf(tools).flatMap(({ functionDeclarations }) =>
      objectsOf(functionDeclarations).flatMap(readTool),
    ),
    toolChoice: readChoice(name === undefined || mode !== 'ANY' ? mode : { name }),
    parallelToolCalls: null,
    maxOutputTokens: numberOf(config.maxOutputTokens),
    stopSequences: readStop(config.stopSequences),
    asksToThink: objectOf(config.thinkingConfig).includeThoughts === true,
    outputFormat: readOutputFormat(config),
  };
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
