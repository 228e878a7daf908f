// The straight path upstream: the client's body with what the gateway decides put in its place.
import { isObject } from '../../lib/json.ts';
import type { ClientRequest, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { fitKnownEffort } from '../openai-models.ts';
import { relayHistory } from './foreign-history.ts';
import type { ChatRequest } from './schema.ts';
import { isOpenAi } from './openai-host.ts';
import { refuseUnpriced } from './shared-credential.ts';

/** Throws ApiError on what a shared credential must not pass. */
export function relayRequest({ body }: ClientRequest, target: UpstreamTarget): UpstreamRequest {
  const search = target.searchesMax === undefined ? 'unpriced' : 'priced';
  refuseUnpriced(body, { search, isOpenAi: isOpenAi(target), opened: target.passFields });
  // Entries, since assigning `__proto__` would lose it.
  const upstream: Record<string, unknown> = Object.fromEntries(Object.entries(body).filter(([name]) => !decidedHere.has(name)));
  upstream.model = target.model;
  const { reasoning_effort: effort } = body as ChatRequest;
  if (effort) upstream.reasoning_effort = fitKnownEffort(effort, target.model);
  upstream[target.maxTokensField] = target.maxOutputTokens;
  if (target.stream) {
    upstream.stream = true;
    const options = isObject(body.stream_options) ? body.stream_options : null;
    upstream.stream_options = { ...options, include_usage: true };
  }
  // Hosts that do not know `store` may refuse it, so only OpenAI's provider adds it where it is absent.
  if (typeof body.store === 'boolean') upstream.store = false;
  const { messages, ignored } = relayHistory((body as ChatRequest).messages, target);
  upstream.messages = messages;
  return { body: upstream, ignored: [...listIgnored(body), ...ignored] };
}

/** Other hosts' names for the output limit: one that is obeyed would go beyond what is held. */
const otherLimits = ['max_new_tokens', 'num_predict', 'max_gen_len', 'max_length'];

const decidedHere = new Set([
  'model',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'store',
  'metadata',
  ...otherLimits,
]);

/** OpenAI takes metadata only for answers that it stores. */
function listIgnored(body: ClientRequest['body']): string[] {
  const { store, metadata } = body;
  const ignored = otherLimits.filter((name) => body[name] !== undefined && body[name] !== null);
  if (store === true) ignored.push('store');
  if (metadata !== undefined && metadata !== null) ignored.push('metadata');
  return ignored;
}
