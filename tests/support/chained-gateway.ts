// A gateway whose live provider is another gateway in test mode. The sandbox behind it obeys
// limits, calls tools on demand and returns complete answers in each format, so tests can compare
// live requests field by field in all pairs of formats.
import { startGateway, type TestGateway } from './gateway.ts';

export type ChainedGateway = {
  readonly gateway: TestGateway;
  /** A live key with enough balance. */
  readonly key: string;
  readonly stop: () => Promise<void>;
};

/** By model id. Each model's provider speaks the format that the id names. */
export const chainedModels = ['on-responses', 'on-chat', 'on-messages'] as const;

export async function startChainedGateway(): Promise<ChainedGateway> {
  const upstream = await startGateway({ limits: { chat_max_tokens: null } });
  const base_url = `${upstream.url}/v1`;
  const api_key = upstream.program.firstTestKey;
  const gateway = await startGateway({
    providers: {
      openai: { kind: 'openai', base_url, api_key },
      anthropic: { kind: 'anthropic', base_url: upstream.url, api_key },
      local: { kind: 'openai-compatible', base_url, api_key },
    },
    models: {
      'on-responses': modelOn('openai', 'gpt-6-luna', { api: 'responses' }),
      'on-chat': modelOn('local', 'gpt-6-luna'),
      'on-messages': modelOn('anthropic', 'claude-haiku-4-5'),
    },
  });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await upstream.stop();
  };
  return { gateway, key, stop };
}

function modelOn(provider: string, model: string, fields: object = {}): object {
  return {
    routes: [{ provider, model, ...fields }],
    max_input_tokens: 200_000,
    max_output_tokens: 32_000,
    supports: { thinking: true, streaming: true, vision: true },
    prices: { input: 1, output: 2 },
  };
}
