// Canonical messages and their parts, as tests write them. Text parts have the same shape in Chat
// and Messages.
import type { UrlCitation } from '../../../src/canonical/citation.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Message,
  Signature,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../../../src/canonical/request.ts';

export function textPart(text: string) {
  return { type: 'text', text } as const;
}

/** A string is a text part. */
export function userTurn(...content: readonly (UserPart | string)[]): Message {
  return { role: 'user', content: content.map(asPart) };
}

export function assistantTurn(...content: readonly (AssistantPart | string)[]): Message {
  return { role: 'assistant', content: content.map(asPart) };
}

export function systemTurn(...texts: readonly string[]): Message {
  return { role: 'system', content: texts.map(textPart) };
}

export function toolTurn(...content: readonly ToolResultPart[]): Message {
  return { role: 'tool', content };
}

function asPart<Part>(part: Part | string) {
  return typeof part === 'string' ? textPart(part) : part;
}

export function thinkingPart(text: string, signature: Signature | null = null): ThinkingPart {
  return { type: 'thinking', text, signature, redacted: false };
}

export function callPart(
  id: string,
  name = 'f',
  args = '{}',
  kind: ToolCallPart['kind'] = 'function',
): ToolCallPart {
  return { type: 'tool-call', id, name, arguments: args, kind };
}

export function resultPart(callId: string, ...content: ToolResultPart['content']): ToolResultPart {
  return { type: 'tool-result', callId, content, isError: false };
}

/** A citation of a page, which says no more than the page's address unless `fields` do. */
export function pageCitation(fields: Partial<UrlCitation> = {}): UrlCitation {
  const nothing = { title: null, citedText: null, span: null, reference: null };
  return { type: 'url', url: 'https://a.example', ...nothing, ...fields };
}

/** JSON mode is named in the user's first message; otherwise writers add a sentence about it. */
export function withNamedJson(request: CanonicalRequest): CanonicalRequest {
  if (request.outputFormat.type !== 'json') return request;
  return { ...request, messages: [userTurn('As JSON.'), ...request.messages] };
}
