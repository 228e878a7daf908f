// OpenAI itself, with Responses and Chat.
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { HttpProviderKind } from '../provider.ts';

export const openai: HttpProviderKind = {
  kind: 'openai',
  path: (format) => (format === 'responses' ? '/responses' : '/chat/completions'),
  countTokensPath: () => '/responses/input_tokens',
  headers: (apiKey): Record<string, string> =>
    apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
  isOpenAi: true,
  customTools: true,
  wantsAccount: true,
  adaptBody: (body, format) => ({
    ...(format === 'chat' ? dropReasoning(body) : body),
    store: false,
  }),
};

/**
 * Clients send back the reasoning of models on other hosts. OpenAI's Chat takes none and refuses
 * unknown fields.
 */
function dropReasoning(body: JsonObject): JsonObject {
  const messages: unknown[] = Array.isArray(body.messages) ? body.messages : [];
  if (!messages.some(hasReasoning)) return body;
  return {
    ...body,
    messages: messages.map((message) =>
      hasReasoning(message) ? withoutReasoning(message) : message,
    ),
  };
}

function hasReasoning(message: unknown): message is JsonObject {
  return (
    isObject(message) &&
    ('reasoning_content' in message || 'reasoning' in message || 'reasoning_details' in message)
  );
}

function withoutReasoning(message: JsonObject): JsonObject {
  const {
    reasoning_content: _content,
    reasoning: _reasoning,
    reasoning_details: _details,
    ...rest
  } = message;
  return rest;
}
