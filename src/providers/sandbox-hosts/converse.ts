// The sandbox's host for Bedrock's Converse. Its events are those that the binary stream carries.
import type { Answer } from '../../canonical/answer.ts';
import type { Stop, StreamEvent } from '../../canonical/event.ts';
import type {
  AssistantPart,
  Message,
  OutputFormat,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import type { Usage } from '../../canonical/usage.ts';
import { jsonInstruction } from '../../formats/adapting/json-object.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import {
  documentPlaceholder,
  imagePlaceholder,
  jsonSchema,
  numberOf,
  objectOf,
  objectsOf,
  readStop,
  stringOf,
  textPart,
  textsOf,
} from './fields.ts';
import type { Host } from './host.ts';

export const converse: Host = {
  readRequest,
  writeAnswer: ({ content, stop, usage }: Answer) => ({
    output: { message: { role: 'assistant', content: content.map(writePart) } },
    stopReason: writeStop(stop),
    usage: usage && writeUsage(usage),
  }),
  writeStream: () => {
    let index = -1;
    return (event) =>
      eventsOf(
        event,
        () => index,
        () => ++index,
      )
        .map(([name, data]) => formatSse(name, JSON.stringify(data)))
        .join('');
  },
};

function readRequest(body: JsonObject): SandboxRequest {
  const { system, messages, toolConfig, inferenceConfig, outputConfig } = body;
  const { tools, toolChoice } = objectOf(toolConfig);
  const config = objectOf(inferenceConfig);
  const { structure } = objectOf(objectOf(outputConfig).textFormat);
  const { schema } = objectOf(objectOf(structure).jsonSchema);
  const {
    reasoning_effort: effort,
    reasoningConfig,
    thinking,
  } = objectOf(body.additionalModelRequestFields);
  return {
    system: textsOf(system),
    messages: objectsOf(messages).flatMap(readMessage),
    tools: objectsOf(tools).flatMap(({ toolSpec }) => {
      if (!isObject(toolSpec)) return [];
      const { name, description, inputSchema } = toolSpec;
      return {
        name: stringOf(name),
        description: stringOf(description) || null,
        parameters: objectOf(objectOf(inputSchema).json),
        strict: null,
        kind: 'function' as const,
      };
    }),
    toolChoice: readChoice(objectOf(toolChoice)),
    parallelToolCalls: null,
    maxOutputTokens: numberOf(config.maxTokens),
    stopSequences: readStop(config.stopSequences),
    reasoning:
      (effort ?? reasoningConfig ?? thinking) ? { effort: 'medium', budgetTokens: null } : null,
    outputFormat: readOutputFormat(system, schema),
  };
}

function readOutputFormat(system: unknown, schema: unknown): OutputFormat {
  if (typeof schema === 'string') return jsonSchema(JSON.parse(schema));
  const isJson = textsOf(system).some(({ text }) => text === jsonInstruction.text);
  return { type: isJson ? 'json' : 'text' };
}

function readMessage({ role, content }: JsonObject): Message[] {
  const blocks = objectsOf(content);
  if (role === 'assistant') return [{ role, content: blocks.flatMap(readAssistantBlock) }];
  const results = blocks.flatMap(({ toolResult }) => {
    if (!isObject(toolResult)) return [];
    const { toolUseId, content: inner, status } = toolResult;
    return {
      type: 'tool-result' as const,
      callId: stringOf(toolUseId),
      content: textsOf(inner),
      isError: status === 'error',
    };
  });
  const rest = blocks.flatMap(readUserBlock);
  return [
    ...(results.length > 0 ? [{ role: 'tool', content: results } as const] : []),
    ...(rest.length > 0 || results.length === 0 ? [{ role: 'user', content: rest } as const] : []),
  ];
}

function readUserBlock(block: JsonObject): UserPart[] {
  if (typeof block.text === 'string') return [textPart(block.text)];
  if (block.image !== undefined) return [imagePlaceholder];
  return block.document === undefined ? [] : [documentPlaceholder];
}

function readAssistantBlock({ text, toolUse, reasoningContent }: JsonObject): AssistantPart[] {
  if (typeof text === 'string') return [textPart(text)];
  if (isObject(toolUse)) {
    const { toolUseId, name, input } = toolUse;
    const call = { id: stringOf(toolUseId), name: stringOf(name) };
    return [
      { type: 'tool-call', ...call, arguments: JSON.stringify(input ?? {}), kind: 'function' },
    ];
  }
  if (!isObject(reasoningContent)) return [];
  const shown = stringOf(objectOf(reasoningContent.reasoningText).text);
  return [{ type: 'thinking', text: shown, signature: null, redacted: shown === '' }];
}

function readChoice({ any, tool }: JsonObject): ToolChoice | null {
  if (isObject(tool)) return { type: 'tool', name: stringOf(tool.name) };
  return any === undefined ? null : { type: 'required' };
}

type Named = readonly [name: string, data: JsonObject];

function eventsOf(event: StreamEvent, current: () => number, next: () => number): readonly Named[] {
  const delta = (part: JsonObject): Named[] => [
    ['contentBlockDelta', { contentBlockIndex: current(), delta: part }],
  ];
  switch (event.type) {
    case 'start':
      return [['messageStart', { role: 'assistant' }]];
    case 'text-start':
    case 'thinking-start':
      next();
      return [];
    case 'text-delta':
      return delta({ text: event.text });
    case 'thinking-delta':
      return delta({ reasoningContent: { text: event.text } });
    case 'tool-call-start': {
      const toolUse = { toolUseId: event.id, name: event.name };
      return [['contentBlockStart', { contentBlockIndex: next(), start: { toolUse } }]];
    }
    case 'tool-call-delta':
      return delta({ toolUse: { input: event.text } });
    case 'text-end':
    case 'thinking-end':
    case 'tool-call-end':
      return [['contentBlockStop', { contentBlockIndex: current() }]];
    case 'finish':
      return [
        ['messageStop', { stopReason: writeStop(event.stop) }],
        ['metadata', { usage: event.usage && writeUsage(event.usage) }],
      ];
    default:
      return [];
  }
}

function writePart(part: AssistantPart): JsonObject {
  if (part.type === 'tool-call') {
    const { id, name, arguments: text } = part;
    return { toolUse: { toolUseId: id, name, input: parse(text) } };
  }
  const text = 'text' in part ? part.text : '';
  return part.type === 'thinking' ? { reasoningContent: { reasoningText: { text } } } : { text };
}

/** A call that the output limit cut off has no arguments. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function writeStop({ reason }: Stop): string {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'tool-calls') return 'tool_use';
  return reason === 'stop-sequence' ? 'stop_sequence' : 'end_turn';
}

function writeUsage({ inputTokens, outputTokens }: Usage): JsonObject {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
