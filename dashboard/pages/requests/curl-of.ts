// A request of the history as a command that sends it again. Pure functions.
import type { KeptBody, RequestDetail } from '../../../src/management/contract/requests.ts';
import { curlCommand } from '../../parts/curl.ts';

const messages = [{ role: 'user', content: 'Hello!' }];

/** The paths of the charged endpoints, and what a request to each needs at least. */
const endpoints: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  responses: { path: '/v1/responses', body: { input: 'Hello!' } },
  chat: { path: '/v1/chat/completions', body: { messages } },
  messages: { path: '/v1/messages', body: { max_tokens: 1024, messages } },
  images: { path: '/v1/images/generations', body: { prompt: 'A lighthouse' } },
  'web-search': { path: '/v1/web-search', body: { query: 'lighthouses' } },
};

export function canRepeat({ endpoint }: Pick<RequestDetail, 'endpoint'>): boolean {
  return Object.hasOwn(endpoints, endpoint);
}

type Repeated = Pick<RequestDetail, 'endpoint' | 'model' | 'history' | 'streamed'>;

/**
 * Returns the command. `isOwn`: it has the request's own body, which is kept as a whole; else a small
 * one with the model. A form is kept as a list of its parts, which cannot be sent.
 */
export function curlOf(
  { endpoint, model, history, streamed }: Repeated,
  kept: KeptBody | null,
  baseUrl: string,
): { readonly command: string; readonly isOwn: boolean } {
  const { path, body } = endpoints[endpoint]!;
  const isOwn = kept !== null && !kept.cut && !kept.text.startsWith('[');
  const asked = history?.asked_model ?? model?.id;
  const example = { ...(asked !== undefined && { model: asked }), ...body };
  const text = isOwn
    ? kept.text
    : JSON.stringify({ ...example, ...(streamed && { stream: true }) });
  return { command: curlCommand({ baseUrl, path, isStream: streamed, body: text }), isOwn };
}
