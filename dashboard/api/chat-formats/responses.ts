import {
  appendArguments,
  costOf,
  dataUrl,
  errorOf,
  fieldsOf,
  fileText,
  listOf,
  textOf,
  tokensOf,
  type Ending,
} from './fields.ts';
import {
  efforts,
  noAnswer,
  type Answer,
  type Attachment,
  type ChatFormat,
  type ChatSettings,
  type Json,
  type Message,
  type ToolCall,
} from './types.ts';

export const responses: ChatFormat = {
  name: 'responses',
  label: 'Responses',
  path: '/v1/responses',
  efforts,
  temperatureMax: 2,
  writeBody: ({ model, messages, maxTokens, temperature, effort, stream, ...rest }) => ({
    model,
    ...(rest.system !== '' && { instructions: rest.system }),
    input: messages.flatMap(writeMessage),
    ...writeTools(rest),
    ...writeSchema(rest),
    ...(maxTokens !== null && { max_output_tokens: maxTokens }),
    ...(temperature !== null && { temperature }),
    ...(effort !== null && {
      reasoning: effort === 'none' ? { effort } : { effort, summary: 'auto' },
    }),
    ...(stream && { stream }),
  }),
  readEvent(answer, event, data) {
    const { delta, item, response } = fieldsOf(data);
    switch (event) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return { ...answer, text: answer.text + textOf(delta) };
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return { ...answer, reasoning: answer.reasoning + textOf(delta) };
      case 'response.reasoning_summary_part.added': {
        const gap = fieldsOf(data)['summary_index'] === 0 ? '' : '\n\n';
        return { ...answer, reasoning: answer.reasoning + gap };
      }
      case 'response.output_item.added':
        return isCall(item) ? { ...answer, calls: [...answer.calls, readCall(item)] } : answer;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return { ...answer, calls: appendArguments(answer.calls, textOf(delta)) };
      case 'response.completed':
      case 'response.incomplete':
        return { ...answer, ...readCalls(response), ...readEnding(response) };
      case 'response.failed':
        return { ...answer, error: errorOf(fieldsOf(response)['error']) };
      case 'error':
        return { ...answer, error: errorOf(fieldsOf(data)['error'] ?? data) };
      default:
        return answer;
    }
  },
  readAnswer(body) {
    const output = outputOf(body);
    const partsOf = (type: string, field: string) =>
      output
        .filter((item) => item['type'] === type)
        .flatMap((item) => listOf(item[field]).map(fieldsOf));
    return {
      ...noAnswer,
      text: partsOf('message', 'content')
        .map((part) => textOf(part['text'] ?? part['refusal']))
        .join(''),
      reasoning: [...partsOf('reasoning', 'summary'), ...partsOf('reasoning', 'content')]
        .map((part) => textOf(part['text']))
        .join('\n\n'),
      ...readCalls(body),
      ...readEnding(body),
    };
  },
};

function outputOf(response: unknown): readonly Json[] {
  return listOf(fieldsOf(response)['output']).map(fieldsOf);
}

function isCall(item: unknown): boolean {
  const { type } = fieldsOf(item);
  return type === 'function_call' || type === 'custom_tool_call';
}

function readCall(item: unknown): ToolCall {
  const { call_id: id, name, arguments: text, input } = fieldsOf(item);
  return { id: textOf(id), name: textOf(name), arguments: textOf(text ?? input) };
}

function readCalls(response: unknown): Pick<Answer, 'calls' | 'images' | 'echo'> {
  const output = outputOf(response);
  const made = output.filter(({ type }) => type === 'image_generation_call');
  const images = made.map(({ output_format: format, result }) => {
    const mediaType = `image/${textOf(format) || 'png'}`;
    return { kind: 'image', name: 'image', mediaType, data: textOf(result) } as const;
  });
  return { calls: output.filter(isCall).map(readCall), images, echo: output };
}

function readEnding(response: unknown): Ending {
  const { status, usage, incomplete_details: details } = fieldsOf(response);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = fieldsOf(usage);
  return {
    stop: textOf(fieldsOf(details)['reason'] ?? status),
    ...tokensOf(inputTokens, outputTokens),
    ...costOf(usage),
  };
}

function writeMessage(message: Message): readonly Json[] {
  switch (message.role) {
    case 'user': {
      const { text, attachments = [] } = message;
      if (attachments.length === 0) return [{ role: 'user', content: text }];
      const content = [
        ...attachments.map(writeAttachment),
        ...(text === '' ? [] : [{ type: 'input_text', text }]),
      ];
      return [{ role: 'user', content }];
    }
    case 'assistant': {
      const { format, text, calls, echo } = message;
      if (format === 'responses' && echo.length > 0) return echo;
      return [
        ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
        ...calls.map(({ id, name, arguments: args }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: args,
        })),
      ];
    }
    case 'tool':
      return message.results.map(({ callId, output }) => ({
        type: 'function_call_output',
        call_id: callId,
        output,
      }));
  }
}

function writeAttachment(file: Attachment): Json {
  switch (file.kind) {
    case 'image':
      return { type: 'input_image', image_url: dataUrl(file) };
    case 'pdf':
      return { type: 'input_file', filename: file.name, file_data: dataUrl(file) };
    case 'text':
      return { type: 'input_text', text: fileText(file) };
    case 'link':
      return file.media === 'image'
        ? { type: 'input_image', image_url: file.url }
        : { type: 'input_file', file_url: file.url };
  }
}

function writeTools({ tools, toolChoice }: Pick<ChatSettings, 'tools' | 'toolChoice'>): Json {
  if (tools.length === 0) return {};
  const choice =
    typeof toolChoice === 'string' || toolChoice === null
      ? toolChoice
      : { type: 'function', name: toolChoice.name };
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      ...(description !== '' && { description }),
      parameters,
    })),
    ...(choice !== null && { tool_choice: choice }),
  };
}

function writeSchema({ schema }: Pick<ChatSettings, 'schema'>): Json {
  return schema ? { text: { format: { type: 'json_schema', ...schema } } } : {};
}
