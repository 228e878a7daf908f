// Reads the conversation of a request for a trace, whatever else the request asks for.
import type { Prompt } from '../../domain/telemetry/content.ts';
import type { ClientFormat, ClientRequest } from '../../formats/format.ts';

const conversationFields = ['messages', 'system', 'input', 'instructions'];

/** A conversation that the canonical request cannot express is returned as the JSON that it was. */
export function readConversation(format: ClientFormat, request: ClientRequest): Prompt {
  const entries = Object.entries(request.body);
  const conversation = Object.fromEntries(
    entries.filter(([name]) => conversationFields.includes(name)),
  );
  const body = { model: request.model, ...conversation };
  try {
    return format.readRequest({ ...request, body });
  } catch {
    return {
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: JSON.stringify(conversation) }] }],
    };
  }
}

/** A prompt without a conversation. */
export function promptOnly(text: string): Prompt {
  return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text }] }] };
}
