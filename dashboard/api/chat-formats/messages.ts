import {
  appendArguments,
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

/** The format requires a limit. */
const defaultMaxTokens = 4_096;

export const messages: ChatFormat = {
  name: 'messages',
  label: 'Messages',
  path: '/v1/messages',
  efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  temperatureMax: 1,
  writeBody: ({ model, messages: talk, maxTokens, temperature, effort, stream, ...rest }) => ({
    model,
    max_tokens: maxTokens ?? defaultMaxTokens,
    ...(rest.system !== '' && { system: rest.system }),
    messages: talk.map(writeMessage),
    ...writeTools(rest),
    ...(temperature !== null && { temperature }),
    ...writeOutput(effort, rest),
    ...(stream && { stream }),
  }),
  readEvent(answer, event, data) {
    const { delta, message, content_block: block, usage, error } = fieldsOf(data);
    switch (event) {
      case 'message_start':
        return { ...answer, ...readUsage(fieldsOf(message)['usage']) };
      case 'content_block_start':
        return startBlock(answer, fieldsOf(block));
      case 'content_block_delta':
        return addToBlock(answer, fieldsOf(delta));
      case 'content_block_stop':
        return endBlock(answer);
      case 'message_delta':
        return { ...answer, ...stopOf(fieldsOf(delta)['stop_reason']), ...readUsage(usage) };
      case 'error':
        return { ...answer, error: errorOf(error) };
      default:
        return answer;
    }
  },
  readAnswer(body) {
    const { content, stop_reason: stop, usage } = fieldsOf(body);
    const blocks = listOf(content).map(fieldsOf);
    return {
      ...noAnswer,
      text: blocks.map((block) => textOf(block['text'])).join(''),
      reasoning: blocks.map((block) => textOf(block['thinking'])).join(''),
      calls: blocks.filter(isCall).map(({ id, name, input }) => ({
        id: textOf(id),
        name: textOf(name),
        arguments: JSON.stringify(input ?? {}),
      })),
      echo: blocks,
      ...stopOf(stop),
      ...readUsage(usage),
    };
  },
};

function isCall({ type }: Json): boolean {
  return type === 'tool_use';
}

function startBlock(answer: Answer, block: Json): Answer {
  const call = { id: textOf(block['id']), name: textOf(block['name']), arguments: '' };
  return {
    ...answer,
    text: answer.text + textOf(block['text']),
    reasoning: answer.reasoning + textOf(block['thinking']),
    calls: isCall(block) ? [...answer.calls, call] : answer.calls,
    echo: [...answer.echo, block],
  };
}

/** Blocks do not overlap: a delta belongs to the last one. */
function addToBlock(answer: Answer, delta: Json): Answer {
  const block = answer.echo.at(-1);
  if (!block) return answer;
  const [text, thinking, signature] = ['text', 'thinking', 'signature'].map((field) =>
    textOf(delta[field]),
  ) as [string, string, string];
  const grown = {
    ...block,
    ...(text !== '' && { text: textOf(block['text']) + text }),
    ...(thinking !== '' && { thinking: textOf(block['thinking']) + thinking }),
    ...(signature !== '' && { signature: textOf(block['signature']) + signature }),
  };
  return {
    ...answer,
    text: answer.text + text,
    reasoning: answer.reasoning + thinking,
    calls: isCall(block)
      ? appendArguments(answer.calls, textOf(delta['partial_json']))
      : answer.calls,
    echo: [...answer.echo.slice(0, -1), grown],
  };
}

/** The arguments of a call are complete only now. */
function endBlock(answer: Answer): Answer {
  const block = answer.echo.at(-1);
  const call = answer.calls.at(-1);
  if (!block || !call || !isCall(block)) return answer;
  const input = parseArguments(call.arguments);
  return { ...answer, echo: [...answer.echo.slice(0, -1), { ...block, input }] };
}

/** The format's `input_tokens` excludes cached tokens. */
function readUsage(usage: unknown): Ending {
  const {
    input_tokens: input,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: output,
  } = fieldsOf(usage);
  const inputTokens =
    typeof input === 'number' ? input + numberOf(read) + numberOf(written) : undefined;
  return { ...tokensOf(inputTokens, output), ...costOf(usage) };
}

function writeMessage(message: Message): Json {
  switch (message.role) {
    case 'user': {
      const { text, attachments = [] } = message;
      if (attachments.length === 0) return { role: 'user', content: text };
      const content = [
        ...attachments.map(writeAttachment),
        ...(text === '' ? [] : [{ type: 'text', text }]),
      ];
      return { role: 'user', content };
    }
    case 'assistant': {
      const { format, text, calls, echo } = message;
      if (format === 'messages' && echo.length > 0) return { role: 'assistant', content: echo };
      if (calls.length === 0) return { role: 'assistant', content: text };
      const content = [
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls.map(({ id, name, arguments: args }) => ({
          type: 'tool_use',
          id,
          name,
          input: parseArguments(args),
        })),
      ];
      return { role: 'assistant', content };
    }
    case 'tool':
      return {
        role: 'user',
        content: message.results.map(({ callId, output }) => ({
          type: 'tool_result',
          tool_use_id: callId,
          content: output,
        })),
      };
  }
}

function writeAttachment(file: Attachment): Json {
  if (file.kind === 'text') return { type: 'text', text: fileText(file) };
  if (file.kind === 'link') {
    const type = file.media === 'image' ? 'image' : 'document';
    return { type, source: { type: 'url', url: file.url } };
  }
  const source = { type: 'base64', media_type: file.mediaType, data: file.data };
  return file.kind === 'image'
    ? { type: 'image', source }
    : { type: 'document', source, title: file.name };
}

function writeTools({ tools, toolChoice }: Pick<ChatSettings, 'tools' | 'toolChoice'>): Json {
  if (tools.length === 0) return {};
  const choice =
    toolChoice === 'required'
      ? { type: 'any' }
      : toolChoice && { type: 'tool', name: toolChoice.name };
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      ...(description !== '' && { description }),
      input_schema: parameters,
    })),
    ...(choice && { tool_choice: choice }),
  };
}

/** Effort and schema share a field. */
function writeOutput(effort: Effort | null, { schema }: Pick<ChatSettings, 'schema'>): Json {
  const output = {
    ...(effort !== null && effort !== 'none' && { effort }),
    ...(schema && { format: { type: 'json_schema', schema: schema.schema } }),
  };
  return {
    ...(effort !== null && {
      thinking: { type: effort === 'none' ? 'disabled' : 'adaptive' },
    }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
  };
}
