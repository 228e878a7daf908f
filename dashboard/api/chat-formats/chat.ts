import {
  costOf,
  dataUrl,
  errorOf,
  fieldsOf,
  fileText,
  listOf,
  stopOf,
  textOf,
  tokensOf,
  type Ending,
} from './fields.ts';
import { readContent } from './read-content.ts';
import {
  efforts,
  noAnswer,
  type Answer,
  type Attachment,
  type ChatFormat,
  type ChatSettings,
  type Json,
  type Message,
} from './types.ts';

export const chat: ChatFormat = {
  name: 'chat',
  label: 'Chat Completions',
  path: '/v1/chat/completions',
  efforts,
  temperatureMax: 2,
  writeBody: ({ model, messages, maxTokens, temperature, effort, stream, ...rest }) => ({
    model,
    messages: [
      ...(rest.system === '' ? [] : [{ role: 'system', content: rest.system }]),
      ...messages.flatMap(writeMessage),
    ],
    ...writeTools(rest),
    ...writeSchema(rest),
    ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    ...(temperature !== null && { temperature }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  readEvent(answer, _event, data) {
    const { error, choices } = fieldsOf(data);
    if (error !== undefined) return { ...answer, error: errorOf(error) };
    const choice = fieldsOf(listOf(choices)[0]);
    return {
      ...addMessage(answer, choice['delta']),
      ...stopOf(choice['finish_reason']),
      ...readUsage(data),
    };
  },
  readAnswer(body) {
    const choice = fieldsOf(listOf(fieldsOf(body)['choices'])[0]);
    return {
      ...addMessage(noAnswer, choice['message']),
      ...stopOf(choice['finish_reason']),
      ...readUsage(body),
    };
  },
};

/** Adds a delta, or a whole message. Providers use two names for reasoning text. */
function addMessage(answer: Answer, delta: unknown): Answer {
  const fields = fieldsOf(delta);
  const { content, refusal, reasoning_content: thought, reasoning } = fields;
  const text = answer.text + readContent(content).text + textOf(refusal);
  const before = fieldsOf(answer.echo[0]);
  const details = [...listOf(before['reasoning_details']), ...listOf(fields['reasoning_details'])];
  const calls = listOf(fields['tool_calls']).map(fieldsOf).reduce(addCall, callsOf(before));
  const reasoned = answer.reasoning + textOf(thought ?? reasoning);
  return {
    ...answer,
    text,
    reasoning: reasoned,
    images: [...(answer.images ?? []), ...readContent(fields['images']).attachments],
    calls: calls.map(({ id, function: called, custom }) => {
      const { name, arguments: written, input } = fieldsOf(called ?? custom);
      return { id: textOf(id), name: textOf(name), arguments: textOf(written ?? input) };
    }),
    echo: [
      {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        ...(reasoned !== '' && { reasoning_content: reasoned }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
    ],
  };
}

function callsOf(message: Json): readonly Json[] {
  return listOf(message['tool_calls']).map(fieldsOf);
}

/** The first piece of a call has its id and name; later ones have more of its arguments. */
function addCall(calls: readonly Json[], { index, ...piece }: Json): readonly Json[] {
  const at = typeof index === 'number' ? index : calls.length;
  const known = calls[at];
  if (!known) return [...calls, piece];
  const called = fieldsOf(known['function']);
  const more = textOf(fieldsOf(piece['function'])['arguments']);
  const grown = {
    ...known,
    function: { ...called, arguments: textOf(called['arguments']) + more },
  };
  return calls.with(at, grown);
}

function readUsage(data: unknown): Ending {
  const { usage } = fieldsOf(data);
  const { prompt_tokens: input, completion_tokens: output } = fieldsOf(usage);
  return { ...tokensOf(input, output), ...costOf(usage) };
}

function writeMessage(message: Message): readonly Json[] {
  switch (message.role) {
    case 'user': {
      const { text, attachments = [] } = message;
      if (attachments.length === 0) return [{ role: 'user', content: text }];
      const content = [
        ...attachments.map(writeAttachment),
        ...(text === '' ? [] : [{ type: 'text', text }]),
      ];
      return [{ role: 'user', content }];
    }
    case 'assistant': {
      const { format, text, calls, echo } = message;
      if (format === 'chat' && echo.length > 0) return echo;
      const written = calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      }));
      return [
        {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...(written.length > 0 && { tool_calls: written }),
        },
      ];
    }
    case 'tool':
      return message.results.map(({ callId, output }) => ({
        role: 'tool',
        tool_call_id: callId,
        content: output,
      }));
  }
}

function writeAttachment(file: Attachment): Json {
  switch (file.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(file) } };
    case 'pdf':
      return { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } };
    case 'text':
      return { type: 'text', text: fileText(file) };
    case 'link':
      return file.media === 'image'
        ? { type: 'image_url', image_url: { url: file.url } }
        : { type: 'file', file: { file_data: file.url } };
  }
}

function writeTools({ tools, toolChoice }: Pick<ChatSettings, 'tools' | 'toolChoice'>): Json {
  if (tools.length === 0) return {};
  const choice =
    typeof toolChoice === 'string' || toolChoice === null
      ? toolChoice
      : { type: 'function', function: { name: toolChoice.name } };
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, ...(description !== '' && { description }), parameters },
    })),
    ...(choice !== null && { tool_choice: choice }),
  };
}

function writeSchema({ schema }: Pick<ChatSettings, 'schema'>): Json {
  return schema ? { response_format: { type: 'json_schema', json_schema: schema } } : {};
}
