// The three endpoints that run a model, as data for tests that cover each of them.
import type { WireName } from './answers.ts';

export type Endpoint = {
  readonly name: WireName;
  readonly path: string;
  /**
   * A built-in model whose provider speaks the endpoint's format, which takes the straight path.
   */
  readonly model: string;
  /** The provider's path on the local upstream. */
  readonly upstreamPath: string;
  /** The format's name for its output limit. */
  readonly limitField: string;
  readonly body: (fields?: object) => Record<string, unknown>;
};

const ask = (text: string) => [{ role: 'user', content: text }];

export const endpoints: readonly Endpoint[] = [
  {
    name: 'responses',
    path: '/v1/responses',
    model: 'gpt-6-luna',
    upstreamPath: '/v1/responses',
    limitField: 'max_output_tokens',
    body: (fields) => ({ model: 'gpt-6-luna', input: 'Hello!', max_output_tokens: 200, ...fields }),
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    model: 'gpt-6-luna',
    upstreamPath: '/v1/chat/completions',
    limitField: 'max_completion_tokens',
    body: (fields) => ({
      model: 'gpt-6-luna',
      messages: ask('Hello!'),
      max_completion_tokens: 200,
      ...fields,
    }),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    model: 'claude-haiku-4-5',
    upstreamPath: '/v1/messages',
    limitField: 'max_tokens',
    body: (fields) => ({
      model: 'claude-haiku-4-5',
      messages: ask('Hello!'),
      max_tokens: 200,
      ...fields,
    }),
  },
];

export function endpoint(name: WireName): Endpoint {
  return endpoints.find((candidate) => candidate.name === name)!;
}
