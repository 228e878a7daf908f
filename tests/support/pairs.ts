// Every client format on every upstream format: the models, requests and answers of each pair.
import type { WireName } from './answers.ts';
import { endpoints, type Endpoint } from './endpoints.ts';

export type Pair = {
  readonly name: string;
  readonly client: Endpoint;
  /** The upstream's wire format. */
  readonly upstream: WireName;
  readonly upstreamPath: string;
  readonly straight: boolean;
  /** A request in the client's format to the pair's model. */
  readonly body: (fields?: object) => Record<string, unknown>;
};

/** USD per million tokens, input and output. */
export const pairPrices = { input: 3, output: 15 };

const routes = {
  responses: { provider: 'openai', api: 'responses' },
  chat: { provider: 'openai', api: 'chat' },
  messages: { provider: 'anthropic', api: 'messages' },
  gemini: { provider: 'google', api: 'gemini' },
} as const;

/** The `models` of a test gateway's configuration. */
export const pairModels: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(routes).map(([name, route]) => [
    `to-${name}`,
    {
      routes: [{ ...route, model: 'upstream-model' }],
      max_input_tokens: 100_000,
      max_output_tokens: 8_000,
      prices: pairPrices,
    },
  ]),
);

export const pairs: readonly Pair[] = endpoints.flatMap((client) =>
  endpoints.map((upstream) => ({
    name: `${client.name} on ${upstream.name}`,
    client,
    upstream: upstream.name,
    upstreamPath: upstream.upstreamPath,
    straight: client.name === upstream.name,
    body: (fields) => client.body({ model: `to-${upstream.name}`, ...fields }),
  })),
);
