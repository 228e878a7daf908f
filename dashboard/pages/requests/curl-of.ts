// A request of the history as a command that sends it again. Pure functions.
import type { KeptBody, RequestDetail } from '../../../src/management/contract/requests.ts';
import { gemini, inPublicForm } from '../../api/chat-formats/gemini.ts';
import { parseObject } from '../../api/chat-formats/fields.ts';
import { curlCommand } from '../../parts/curl.ts';
import { isChatFormat } from './request-filters.ts';

const messages = [{ role: 'user', content: 'Hello!' }];

/** The paths of the charged endpoints, and what a request to each needs at least. */
const endpoints: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  responses: { path: '/v1/responses', body: { input: 'Hello!' } },
  chat: { path: '/v1/chat/completions', body: { messages } },
  messages: { path: '/v1/messages', body: { max_tokens: 1024, messages } },
  gemini: { path: gemini.path, body: { contents: [{ parts: [{ text: 'Hello!' }] }] } },
  completions: { path: '/v1/completions', body: { prompt: 'Hello!' } },
  embeddings: { path: '/v1/embeddings', body: { input: 'A lighthouse' } },
  speech: { path: '/v1/audio/speech', body: { input: 'A lighthouse', voice: 'alloy' } },
  rerank: {
    path: '/v1/rerank',
    body: { query: 'lighthouses', documents: ['A lighthouse', 'A bakery'] },
  },
  moderations: { path: '/v1/moderations', body: { input: 'A lighthouse' } },
  images: { path: '/v1/images/generations', body: { prompt: 'A lighthouse' } },
  'web-search': { path: '/v1/web-search', body: { query: 'lighthouses' } },
};

export function canRepeat({ endpoint }: Pick<RequestDetail, 'endpoint'>): boolean {
  return Object.hasOwn(endpoints, endpoint);
}

type Repeated = Pick<RequestDetail, 'endpoint' | 'model' | 'history' | 'streamed'>;

/**
 * Returns the command. `isOwn`: it has the request's own body, if that is kept as a whole and is an
 * object in JSON; else a small one with the model. Of a form, only a list of its parts is kept.
 */
export function curlOf(
  { endpoint, model, history, streamed }: Repeated,
  kept: KeptBody | null,
  baseUrl: string,
): { readonly command: string; readonly isOwn: boolean } {
  const { path, body } = endpoints[endpoint]!;
  const isOwn = kept !== null && parseObject(kept.text) !== null;
  const name = history?.asked_model ?? model?.id;
  const example = { ...(name !== undefined && { model: name }), ...body };
  // Speech is sent while it is made, without being asked.
  const isStream = streamed && isChatFormat(endpoint);
  const asked = inPublicForm({ path, body: { ...example, ...(isStream && { stream: true }) } });
  const text = isOwn ? withoutControls(kept.text) : JSON.stringify(asked.body);
  return { command: curlCommand({ baseUrl, path: asked.path, isStream, body: text }), isOwn };
}

/** A terminal may act on control characters that are pasted. JSON has them escaped up to U+001F. */
function withoutControls(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}
