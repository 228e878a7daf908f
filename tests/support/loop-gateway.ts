// A gateway with a model for each upstream format, all scripted to run a tool loop.
import { startGateway, type TestGateway } from './gateway.ts';
import { playBedrockLoop, playToolLoop, type LoopWire } from './tool-loop.ts';

/** By model id. */
export const loopModels: readonly { readonly id: string; readonly wire: LoopWire }[] = [
  { id: 'on-responses', wire: 'responses' },
  { id: 'on-chat', wire: 'chat' },
  { id: 'on-messages', wire: 'messages' },
  { id: 'on-gemini', wire: 'gemini' },
];

/** By model id, with Claude on Bedrock by Converse and by `invoke`. */
export const everyLoopModel: readonly { readonly id: string }[] = [
  ...loopModels,
  { id: 'on-converse' },
  { id: 'on-invoke' },
];

export type LoopGateway = { readonly gateway: TestGateway; readonly key: string };

/** `key`: a live key with enough balance. `fields`: of each model. */
export async function startLoopGateway(fields: object = {}): Promise<LoopGateway> {
  const claude = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
  const gateway = await startGateway(({ url }) => ({
    providers: {
      bedrock: { kind: 'bedrock', base_url: `${url}/bedrock`, api_key: 'bedrock-api-key-abc' },
    },
    models: {
      'on-converse': modelOn({ provider: 'bedrock', model: claude, api: 'converse' }, fields),
      'on-invoke': modelOn({ provider: 'bedrock', model: claude }, fields),
      'on-responses': modelOn({ provider: 'openai', api: 'responses' }, fields),
      'on-chat': modelOn({ provider: 'local' }, fields),
      'on-messages': modelOn({ provider: 'anthropic' }, fields),
      'on-gemini': modelOn({ provider: 'google' }, fields),
    },
  }));
  const { upstream } = gateway;
  upstream.on('/v1/responses', playToolLoop('responses'));
  upstream.on('/local/v1/chat/completions', playToolLoop('chat'));
  upstream.on('/v1/messages', playToolLoop('messages'));
  for (const method of ['generateContent', 'streamGenerateContent']) {
    upstream.on(`/v1beta/models/upstream:${method}`, playToolLoop('gemini'));
  }
  const onBedrock = `/bedrock/model/${encodeURIComponent(claude)}`;
  for (const method of ['converse', 'converse-stream'])
    upstream.on(`${onBedrock}/${method}`, playBedrockLoop(false));
  for (const method of ['invoke', 'invoke-with-response-stream'])
    upstream.on(`${onBedrock}/${method}`, playBedrockLoop(true));
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
  return { gateway, key };
}

function modelOn(route: object, fields: object): object {
  return {
    routes: [{ model: 'upstream', ...route }],
    max_input_tokens: 200_000,
    max_output_tokens: 32_000,
    supports: { thinking: true, streaming: true, vision: true },
    prices: { input: 1, output: 2 },
    ...fields,
  };
}
