// The sandbox's host for Google's Gemini.
import type { OutputFormat } from '../../canonical/request.ts';
import { gemini as format } from '../../formats/gemini/index.ts';
import { type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import { codeTool, type SandboxRequest } from '../sandbox/request.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { AnswerOptions, Host } from './host.ts';
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

export const gemini: Host = {
  readRequest,
  writeAnswer: (answer, options) =>
    withCode(changeBody(format.writeAnswer(answer, options.context), options), options),
  writeStream: (options) => {
    const write = writeEvents(format.writeStream(options.context));
    if (options.hasUsage && options.code === null) return write;
    let isCodeTold = false;
    return (event) =>
      changeFrames(write(event), (data) => {
        const changed = changeBody(data, options);
        const told = isCodeTold ? changed : withCode(changed, options);
        isCodeTold = true;
        return told;
      });
  },
};

/** After its code the model reads the prompt again. */
function changeBody(
  { usageMetadata, ...body }: JsonObject,
  { hasUsage, code }: AnswerOptions,
): JsonObject {
  if (!hasUsage || usageMetadata === undefined) return body;
  const { promptTokenCount: read, totalTokenCount: total } = objectOf(usageMetadata);
  const again = code !== null && {
    toolUsePromptTokenCount: read,
    totalTokenCount: Number(total) + Number(read),
  };
  return { ...body, usageMetadata: { ...objectOf(usageMetadata), ...again } };
}

/** Begins an answer with the code and what came of it. */
function withCode(body: JsonObject, { code }: AnswerOptions): JsonObject {
  if (code === null) return body;
  const [first, ...others] = objectsOf(body.candidates);
  const content = objectOf(first?.content);
  const output = 'The sandbox runs no code.\n';
  const parts = [
    { executableCode: { language: 'PYTHON', code } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output } },
    ...objectsOf(content.parts),
  ];
  return { ...body, candidates: [{ ...first, content: { ...content, parts } }, ...others] };
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
    ...(objectsOf(tools).some(({ codeExecution: code }) => code) && { searchTool: codeTool }),
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
