// The endpoints that run a model, as data for tests that cover each of them.
import type { UpstreamWireName, WireName } from './answers.ts';

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

/** An endpoint of any client format. Send what `addressed` returns: Google's paths depend on the body. */
export type Client = Omit<Endpoint, 'name' | 'upstreamPath'> & { readonly name: UpstreamWireName };

const google = '/v1beta/models';
const geminiModel = 'gemini-3.5-flash';

export const clients: readonly Client[] = [
  ...endpoints,
  {
    name: 'gemini',
    path: google,
    model: geminiModel,
    limitField: 'maxOutputTokens',
    body: ({
      maxOutputTokens = 200,
      stopSequences,
      ...fields
    }: { maxOutputTokens?: number; stopSequences?: readonly string[] } = {}) => ({
      model: geminiModel,
      contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }],
      generationConfig: { maxOutputTokens, ...(stopSequences && { stopSequences }) },
      ...fields,
    }),
  },
];

/** Where a body goes, and what is sent: Google's paths name the model, and whether to stream. */
export function addressed(
  { name, path }: Pick<Client, 'name' | 'path'>,
  body: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  if (name !== 'gemini') return { path, body };
  const { model, stream, ...rest } = body;
  const method = stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { path: `${path}/${String(model)}:${method}`, body: rest };
}

/** The field of a conversation that is this text alone. */
export function promptOf(name: UpstreamWireName, text: string): Record<string, unknown> {
  if (name === 'responses') return { input: text };
  if (name === 'gemini') return { contents: [{ role: 'user', parts: [{ text }] }] };
  return { messages: ask(text) };
}
