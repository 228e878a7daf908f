// The sandbox's host for Google's Gemini.
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Tool,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import { userTurn } from '../../formats/adapting/conversation.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { gemini as format } from '../../formats/gemini/index.ts';
import { codeTool, type SandboxRequest } from '../sandbox/request.ts';
import {
  callPart,
  jsonSchema,
  numberOf,
  readStop,
  reasoningIf,
  resultPart,
  documentPlaceholder,
  soundPart,
  imagePlaceholder,
  textPart,
  textsOf,
  thinkingPart,
  toolOf,
} from './fields.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { AnswerOptions, Host } from './host.ts';

export const gemini: Host = {
  readRequest,
  writeAnswer: (answer, options) =>
    withCode(changeBody(format.writeAnswer(answer, options.context), options), options),
  writeStream: (options) => {
    const write = writeEvents(format.writeStream(options.context));
    if (options.hasUsage && options.searchedFor === null) return write;
    let isCodeTold = options.searchedFor === null;
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
  { hasUsage, searchedFor }: AnswerOptions,
): JsonObject {
  if (!hasUsage || usageMetadata === undefined) return body;
  const { promptTokenCount: read, totalTokenCount: total } = objectOf(usageMetadata);
  const again = searchedFor !== null && {
    toolUsePromptTokenCount: read,
    totalTokenCount: Number(total) + Number(read),
  };
  return { ...body, usageMetadata: { ...objectOf(usageMetadata), ...again } };
}

/** Begins an answer with the code and what came of it. */
function withCode(body: JsonObject, { searchedFor: code }: AnswerOptions): JsonObject {
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
    reasoning: reasoningIf(objectOf(config.thinkingConfig).includeThoughts === true),
    outputFormat: readOutputFormat(config),
    ...(objectsOf(tools).some(({ codeExecution: code }) => code) && { searchTool: codeTool }),
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
  return userTurn(results, isAttached ? [] : rest);
}

function readResult({ id, name, response }: JsonObject) {
  const { error, output } = objectOf(response);
  const content = [textPart(error === undefined ? output : error)];
  return resultPart(textOf(id) || name, content, error !== undefined);
}

function readUserPart({ text, inlineData, fileData }: JsonObject): UserPart[] {
  if (typeof text === 'string') return [textPart(text)];
  const { mimeType } = objectOf(inlineData ?? fileData);
  if (mimeType === undefined) return [];
  if (textOf(mimeType).startsWith('audio/')) return [soundPart(inlineData)];
  return [textOf(mimeType).startsWith('image/') ? imagePlaceholder : documentPlaceholder];
}

function readModelPart({ text, thought, functionCall }: JsonObject): AssistantPart[] {
  if (functionCall !== undefined) {
    const { id, name, args } = objectOf(functionCall);
    return [callPart(id, name, JSON.stringify(args ?? {}))];
  }
  if (typeof text !== 'string') return [];
  return [thought === true ? thinkingPart(text) : textPart(text)];
}

function readTool(tool: JsonObject): Tool {
  return toolOf(tool, objectOf(tool.parametersJsonSchema ?? tool.parameters));
}

function readChoice({ mode, allowedFunctionNames }: JsonObject): ToolChoice | null {
  const [name] = readStop(allowedFunctionNames);
  if (mode === 'ANY') return name === undefined ? { type: 'required' } : { type: 'tool', name };
  return mode === 'NONE' ? { type: 'none' } : null;
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
