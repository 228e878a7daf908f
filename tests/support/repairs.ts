// Requests as clients send them, and what the tests of their repairs share.
import type { ClientFormatName, UpstreamFormatName } from '../../src/terms/format-name.ts';
import type { UpstreamTarget } from '../../src/formats/format.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { writtenRequest } from './written-request.ts';

export type Way = { readonly client: ClientFormatName; readonly upstream: UpstreamFormatName };

export const straight = (name: ClientFormatName): Way => ({ client: name, upstream: name });
export const openAi = { model: 'gpt-5.4', isOpenAi: true } as const;

/** As it is sent: without undefined fields. */
export function sent(way: Way, body: object, changes: Partial<UpstreamTarget> = {}) {
  const needed = way.client === 'messages' ? { model: 'm', max_tokens: 99 } : { model: 'm' };
  const written = writtenRequest(way, { ...needed, ...body }, changes);
  return { body: JSON.parse(JSON.stringify(written.body)) as JsonObject, ignored: written.ignored };
}

export const chatMessages = (messages: readonly object[], changes: Partial<UpstreamTarget> = {}) =>
  sent(straight('chat'), { messages }, changes).body.messages as JsonObject[];

export const user = { role: 'user', content: 'x' };
export const chatCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
});
export const called = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(chatCall),
});
export const answered = (id: string, content: unknown = 'r') => ({
  role: 'tool',
  tool_call_id: id,
  content,
});

export const clients: readonly ClientFormatName[] = ['gemini', 'chat', 'responses', 'messages'];
export const upstreams: readonly UpstreamFormatName[] = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'converse',
];
