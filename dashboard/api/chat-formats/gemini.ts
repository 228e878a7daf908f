import {
  costOf,
  errorOf,
  fieldsOf,
  fileText,
  listOf,
  numberOf,
  parseArguments,
  stopOf,
  textOf,
  tokensOf,
  type Ending,
} from './fields.ts';
import {
  noAnswer,
  type Answer,
  type Attachment,
  type ChatFormat,
  type ChatSettings,
  type Effort,
  type Json,
  type Message,
} from './types.ts';

/** Older models know no levels, and all know budgets. */
const budgets: Partial<Readonly<Record<Effort, number>>> = {
  none: 0,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};

export const gemini: ChatFormat = {
  name: 'gemini',
  label: 'Gemini',
  path: '/v1beta/generateContent',
  efforts: Object.keys(budgets) as Effort[],
  temperatureMax: 2,
  writeBody: ({ model, messages, maxTokens, temperature, effort, stream, ...rest }) => ({
    model,
    contents: messages.map((message) => writeMessage(message, messages)),
    ...(rest.system !== '' && { systemInstruction: { parts: [{ text: rest.system }] } }),
    ...writeTools(rest),
    generationConfig: {
      ...(maxTokens !== null && { maxOutputTokens: maxTokens }),
      ...(temperature !== null && { temperature }),
      thinkingConfig: {
        includeThoughts: effort !== 'none',
        ...(effort !== null && { thinkingBudget: budgets[effort] }),
      },
      ...(rest.schema && {
        responseMimeType: 'application/json',
        responseJsonSchema: rest.schema.schema,
      }),
    },
    ...(stream && { stream, alt: 'sse' }),
  }),
  readEvent(answer, _event, data) {
    const { error } = fieldsOf(data);
    return error === undefined ? addChunk(answer, data) : { ...answer, error: errorOf(error) };
  },
  readAnswer: (body) => addChunk(noAnswer, body),
};

function addChunk(answer: Answer, chunk: unknown): Answer {
  const { candidates, usageMetadata } = fieldsOf(chunk);
  const { content, finishReason } = fieldsOf(listOf(candidates)[0]);
  const parts = listOf(fieldsOf(content)['parts']).map(fieldsOf);
  const texts = (isThought: boolean) =>
    parts.map((part) => ((part['thought'] === true) === isThought ? shownText(part) : '')).join('');
  return {
    ...answer,
    text: answer.text + texts(false),
    reasoning: answer.reasoning + texts(true),
    calls: [
      ...answer.calls,
      ...parts.flatMap(({ functionCall }) => {
        if (!functionCall) return [];
        const { id, name, args } = fieldsOf(functionCall);
        return [{ id: textOf(id), name: textOf(name), arguments: JSON.stringify(args ?? {}) }];
      }),
    ],
    images: [...(answer.images ?? []), ...parts.flatMap(readImage)],
    echo: [...answer.echo, ...parts],
    ...stopOf(finishReason),
    ...readUsage(usageMetadata),
  };
}

/** Code that Google ran, and what came of it, are blocks. */
function shownText({ text, executableCode, codeExecutionResult }: Json): string {
  const { code, output = code } = fieldsOf(executableCode ?? codeExecutionResult);
  return output === undefined ? textOf(text) : `\n\`\`\`\n${textOf(output).trimEnd()}\n\`\`\`\n`;
}

function readImage({ inlineData }: Json): Attachment[] {
  const { mimeType, data } = fieldsOf(inlineData);
  if (typeof data !== 'string') return [];
  return [{ kind: 'image', name: 'image', mediaType: textOf(mimeType), data }];
}

/** Thoughts are counted apart from the answer, and what code made the model read apart from the prompt. */
function readUsage(usage: unknown): Ending {
  const { promptTokenCount, toolUsePromptTokenCount: read, ...counts } = fieldsOf(usage);
  if (promptTokenCount === undefined) return {};
  const input = numberOf(promptTokenCount) + numberOf(read);
  const output = numberOf(counts['candidatesTokenCount']) + numberOf(counts['thoughtsTokenCount']);
  return { ...tokensOf(input, output), ...costOf(usage) };
}

/** A result repeats the name of its function. */
function writeMessage(message: Message, all: readonly Message[]): Json {
  switch (message.role) {
    case 'user': {
      const { text, attachments = [] } = message;
      const parts = [...attachments.map(writeAttachment), ...(text === '' ? [] : [{ text }])];
      return { role: 'user', parts };
    }
    case 'assistant': {
      const { format, text, calls, echo } = message;
      if (format === 'gemini' && echo.length > 0) return { role: 'model', parts: echo };
      const written = calls.map(({ id, name, arguments: args }) => ({
        functionCall: { id, name, args: parseArguments(args) },
      }));
      return { role: 'model', parts: [...(text === '' ? [] : [{ text }]), ...written] };
    }
    case 'tool': {
      const calls = all.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
      const nameOf = (callId: string) => calls.find(({ id }) => id === callId)?.name ?? callId;
      const parts = message.results.map(({ callId, output }) => ({
        functionResponse: { id: callId, name: nameOf(callId), response: { output } },
      }));
      return { role: 'user', parts };
    }
  }
}

function writeAttachment(file: Attachment): Json {
  switch (file.kind) {
    case 'text':
      return { text: fileText(file) };
    case 'link': {
      const mimeType = file.media === 'image' ? 'image/jpeg' : 'application/pdf';
      return { fileData: { mimeType, fileUri: file.url } };
    }
    default:
      return { inlineData: { mimeType: file.mediaType, data: file.data } };
  }
}

function writeTools({ tools, toolChoice }: Pick<ChatSettings, 'tools' | 'toolChoice'>): Json {
  if (tools.length === 0) return {};
  const allowed =
    typeof toolChoice === 'string' ? {} : { allowedFunctionNames: [toolChoice?.name] };
  return {
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          ...(description !== '' && { description }),
          parametersJsonSchema: parameters,
        })),
      },
    ],
    ...(toolChoice && { toolConfig: { functionCallingConfig: { mode: 'ANY', ...allowed } } }),
  };
}

/** Returns a body as one of Messages, whose fields the reader of requests knows. */
export function asMessages(body: Json): Json {
  const { contents, systemInstruction, tools, toolConfig, generationConfig, model, stream } = body;
  const config = fieldsOf(generationConfig);
  const { thinkingBudget: budget } = fieldsOf(config['thinkingConfig']);
  const [effort] = Object.entries(budgets).find(([, known]) => known === budget) ?? [];
  const { mode, allowedFunctionNames } = fieldsOf(fieldsOf(toolConfig)['functionCallingConfig']);
  const [name] = listOf(allowedFunctionNames);
  const schema = config['responseJsonSchema'] ?? config['responseSchema'];
  const system = listOf(fieldsOf(systemInstruction)['parts']).map((part) => fieldsOf(part)['text']);
  return {
    model,
    stream,
    ...(system.length > 0 && { system: system.map(textOf).join('\n\n') }),
    messages: listOf(contents).map(asMessage),
    tools: listOf(tools).flatMap((tool) =>
      listOf(fieldsOf(tool)['functionDeclarations']).map((one) => {
        const { parametersJsonSchema, parameters, ...rest } = fieldsOf(one);
        return { ...rest, parameters: parametersJsonSchema ?? parameters ?? {} };
      }),
    ),
    ...(mode === 'ANY' && { tool_choice: name === undefined ? 'required' : { name } }),
    max_tokens: config['maxOutputTokens'],
    temperature: config['temperature'],
    ...(effort === 'none' && { thinking: { type: 'disabled' } }),
    output_config: { effort, ...(schema !== undefined && { format: { schema } }) },
  };
}

function asMessage(content: unknown): Json {
  const { role, parts } = fieldsOf(content);
  const listed = listOf(parts).map(fieldsOf);
  if (role === 'model') return { role: 'assistant', content: listed };
  return { role: 'user', content: listed.map(asBlock) };
}

function asBlock({ text, inlineData, fileData, functionResponse }: Json): Json {
  if (functionResponse) {
    const { id, name, response } = fieldsOf(functionResponse);
    const { output = response } = fieldsOf(response);
    const content = typeof output === 'string' ? output : JSON.stringify(output);
    return { type: 'tool_result', tool_use_id: id ?? name, content };
  }
  const { mimeType, data, fileUri } = fieldsOf(inlineData ?? fileData);
  if (mimeType === undefined) return { type: 'text', text };
  const type = textOf(mimeType).startsWith('image/') ? 'image' : 'document';
  const source =
    data === undefined
      ? { type: 'url', url: fileUri }
      : { type: 'base64', media_type: mimeType, data };
  return { type, source };
}

type Asked = { readonly path: string; readonly body: Json };

/** Returns a request as other programs send it: Gemini's path names the model and the method. */
export function inPublicForm({ path, body }: Asked): Asked {
  if (path !== gemini.path) return { path, body };
  const { model, stream, alt: _, ...rest } = body;
  const method = stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { path: `/v1beta/models/${textOf(model)}:${method}`, body: rest };
}

/** Returns a body as the format's SDK takes it: Google's has all settings in `config`. */
export function inSdkForm({ path, body }: Asked): Json {
  if (path !== gemini.path) return body;
  const { model, contents, stream: _, alt: __, generationConfig, ...rest } = body;
  return { model, contents, config: { ...rest, ...fieldsOf(generationConfig) } };
}
