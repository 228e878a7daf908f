// Writes a request of Messages in Gemini's form, for tests that send one conversation in every format.
import type { JsonObject } from '../../src/lib/json.ts';
import type { Json } from './plain/reading.ts';

export function asGemini(body: JsonObject): JsonObject {
  const { model, messages, system, tools, output_config: config } = body as Json;
  return {
    ...(model !== undefined && { model }),
    contents: asContents(messages as Json[]),
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system as string }] } }),
    ...(tools !== undefined && {
      tools: [{ functionDeclarations: (tools as Json[]).map(asTool) }],
    }),
    ...(config?.format && {
      generationConfig: {
        responseMimeType: 'application/json',
        responseJsonSchema: config.format.schema as unknown,
      },
    }),
  };
}

export function asContents(messages: readonly Json[]): object[] {
  return joinNeighbours(messages.map(asContent), isResults);
}

function asContent({ role, content }: Json): Content {
  const parts = typeof content === 'string' ? [{ text: content }] : (content as Json[]).map(asPart);
  return { role: role === 'assistant' ? 'model' : 'user', parts };
}

type Content = { readonly role: string; readonly parts: object[] };

const isResults = ({ parts }: Content) => parts.every((part) => 'functionResponse' in part);

/** Google wants the results of a turn in one content. */
function joinNeighbours(contents: readonly Content[], isJoined: (one: Content) => boolean) {
  const joined: Content[] = [];
  for (const content of contents) {
    const last = joined.at(-1);
    if (last && isJoined(last) && isJoined(content)) last.parts.push(...content.parts);
    else joined.push(content);
  }
  return joined;
}

function asTool({ name, input_schema: schema }: Json): object {
  return { name: name as string, parametersJsonSchema: schema as unknown };
}

function asPart(block: Json): object {
  switch (block['type']) {
    case 'tool_use':
      return {
        functionCall: {
          id: block['id'] as string,
          name: block['name'] as string,
          args: block['input'] as object,
        },
      };
    case 'tool_result': {
      const parts =
        typeof block['content'] === 'string' ? [] : (block['content'] as Json[]).map(asPart);
      const id = block['tool_use_id'] as string;
      return {
        functionResponse: {
          id,
          name: 'f',
          response: parts.length > 0 ? {} : { output: 'r' },
          ...(parts.length > 0 && { parts }),
        },
      };
    }
    case 'thinking':
      return { text: block['thinking'] as string, thought: true };
    case 'image':
    case 'document':
      return {
        inlineData: {
          mimeType: block['source'].media_type as string,
          data: block['source'].data as string,
        },
      };
    default:
      return { text: block['text'] as string };
  }
}
