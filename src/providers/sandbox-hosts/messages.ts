// The sandbox's host for Anthropic's Messages.
import type { OutputFormat } from '../../canonical/request.ts';
import { messages as format } from '../../formats/messages/index.ts';
import { isSearchTool } from '../../formats/messages/web-search.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { changeFrames, writeEvents } from './frames.ts';
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

export const messages: Host = {
  readRequest,
  writeAnswer: (answer, { context, hasUsage }) => {
    const written = format.writeAnswer(answer, context);
    return hasUsage ? written : withoutUsage(written);
  },
  writeStream: ({ context, hasUsage }) => {
    const write = writeEvents(format.writeStream(context));
    return hasUsage ? write : (event) => changeFrames(write(event), withoutUsage);
  },
};

function withoutUsage({ usage: _usage, message, ...event }: JsonObject): JsonObject {
  return { ...event, ...(isObject(message) && { message: withoutUsage(message) }) };
}

function readRequest(body: JsonObject): SandboxRequest {
  const { system, thinking, tool_choice: choice } = body;
  const { disable_parallel_tool_use: isSerial } = objectOf(choice);
  const tools = objectsOf(body.tools);
  const search = tools.find(isSearchTool);
  return {
    system: textsOf(system),
    messages: objectsOf(body.messages).flatMap(({ role, content }) =>
      readMessage(role, readParts(content)),
    ),
    // Tools that Anthropic defines and the client runs have a name but no schema.
    tools: tools.filter((tool) => !isSearchTool(tool)).flatMap(readTool),
    toolChoice: readChoice(choice),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : null,
    ...(search && { searchTool: textOf(search.name) || 'web_search' }),
    maxOutputTokens: numberOf(body.max_tokens),
    stopSequences: readStop(body.stop_sequences),
    asksToThink: ['enabled', 'adaptive'].includes(textOf(objectOf(thinking).type)),
    outputFormat: readOutputFormat(body),
  };
}

function readOutputFormat({
  output_config: config,
  output_format: older,
  system,
}: JsonObject): OutputFormat {
  const { type, schema } = objectOf(objectOf(config).format ?? older);
  return type === 'json_schema' ? jsonSchema(schema) : instructedFormat(system);
}
