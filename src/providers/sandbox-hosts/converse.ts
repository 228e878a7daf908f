// The sandbox's host for Bedrock's Converse. Its events are those that the binary stream carries.
import type { AnswerPart } from '../../canonical/own-tools.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { Usage } from '../../canonical/usage.ts';
import { type JsonObject, objectOf, objectsOf, parsedOr } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import type { Host } from './host.ts';
import {
  instructedFormat,
  jsonSchema,
  numberOf,
  readChoice,
  readMessage,
  readParts,
  readStop,
  readTool,
  textsOf,
} from './reading.ts';

export const converse: Host = {
  readRequest,
  writeAnswer: ({ content, stop, usage }) => ({
    output: { message: { role: 'assistant', content: content.map(writePart) } },
    stopReason: writeStop(stop),
    usage: usage && writeUsage(usage),
  }),
  writeStream: () => {
    let index = -1;
    return (event) => {
      if (/^(?:text|thinking|tool-call)-start$/.test(event.type)) index++;
      return eventsOf(event, index)
        .map(([name, data]) => formatSse(name, JSON.stringify(data)))
        .join('');
    };
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
    messages: objectsOf(messages).flatMap(({ role, content }) =>
      readMessage(role, readParts(content)),
    ),
    tools: objectsOf(tools).flatMap(readTool),
    toolChoice: readChoice(toolChoice),
    parallelToolCalls: null,
    maxOutputTokens: numberOf(config.maxTokens),
    stopSequences: readStop(config.stopSequences),
    asksToThink: Boolean(effort ?? reasoningConfig ?? thinking),
    outputFormat:
      typeof schema === 'string' ? jsonSchema(JSON.parse(schema)) : instructedFormat(system),
  };
}

type Named = readonly [name: string, data: JsonObject];

function eventsOf(event: StreamEvent, index: number): readonly Named[] {
  const delta = (part: JsonObject): Named[] => [
    ['contentBlockDelta', { contentBlockIndex: index, delta: part }],
  ];
  switch (event.type) {
    case 'start':
      return [['messageStart', { role: 'assistant' }]];
    case 'text-delta':
      return delta({ text: event.text });
    case 'thinking-delta':
      return delta({ reasoningContent: { text: event.text } });
    case 'tool-call-start': {
      const toolUse = { toolUseId: event.id, name: event.name };
      return [['contentBlockStart', { contentBlockIndex: index, start: { toolUse } }]];
    }
    case 'tool-call-delta':
      return delta({ toolUse: { input: event.text } });
    case 'text-end':
    case 'thinking-end':
    case 'tool-call-end':
      return [['contentBlockStop', { contentBlockIndex: index }]];
    case 'finish':
      return [
        ['messageStop', { stopReason: writeStop(event.stop) }],
        ['metadata', { usage: event.usage && writeUsage(event.usage) }],
      ];
    default:
      return [];
  }
}

function writePart(part: AnswerPart): JsonObject {
  if (part.type === 'tool-call') {
    const { id, name, arguments: text } = part;
    // A call that the output limit cut off has no arguments.
    return { toolUse: { toolUseId: id, name, input: parsedOr(text, {}) } };
  }
  const text = 'text' in part ? part.text : '';
  return part.type === 'thinking' ? { reasoningContent: { reasoningText: { text } } } : { text };
}

function writeStop({ reason }: Stop): string {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'tool-calls') return 'tool_use';
  return reason === 'stop-sequence' ? 'stop_sequence' : 'end_turn';
}

function writeUsage({ inputTokens, outputTokens }: Usage): JsonObject {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
