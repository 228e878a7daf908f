// A model in the configuration of a test gateway, for tests that are not about limits and prices.

import { answerContent } from './answers.ts';
import type { LocalUpstream } from './upstream.ts';

/** A dollar and two per million tokens, unless `fields` say otherwise. */
export function modelOf(routes: readonly object[], fields: object = {}) {
  return {
    routes,
    max_input_tokens: 100_000,
    max_output_tokens: 8_000,
    prices: { input: 1, output: 2 },
    ...fields,
  };
}

/** Routes in order: `{ openai: 'mini' }` leads to the model `mini` at the provider `openai`. */
export function routesTo(models: Readonly<Record<string, string>>) {
  return Object.entries(models).map(([provider, model]) => ({ provider, model }));
}

/** A model at a provider of each wire format. */
export const modelsByWire = {
  R: modelOf([{ provider: 'openai', model: 'gpt-4.1', api: 'responses' }]),
  C: modelOf([{ provider: 'local', model: 'llama-4', api: 'chat' }]),
  M: modelOf([{ provider: 'anthropic', model: 'claude-sonnet-4-5' }]),
  // Continues a last turn of the model (prefill).
  G: modelOf([{ provider: 'google', model: 'gemini-2.5-flash' }]),
};
const answered = { text: 'x', tokens: { input: 5, output: 3 } };

/** Lets the providers of `modelsByWire` answer a letter. */
export function answerEachWire({ on }: LocalUpstream): void {
  on('/v1/responses', answerContent('responses', answered));
  on('/local/v1/chat/completions', answerContent('chat', answered));
  on('/v1/messages', answerContent('messages', answered));
  on('/v1beta/models/gemini-2.5-flash:generateContent', answerContent('gemini', answered));
}
