// A gateway with a model for each upstream format and each cloud, all scripted to run a tool loop.
import { startGateway, upstreamKey, type TestGateway } from './gateway.ts';
import { hostProviders, type Framing } from './model-hosts.ts';
import { playToolLoop, type LoopWire } from './tool-loop.ts';
import type { Script } from './upstream.ts';

/** By model id: one for each format, at its own vendor. */
export const loopModels = [
  { id: 'on-responses', wire: 'responses' },
  { id: 'on-chat', wire: 'chat' },
  { id: 'on-messages', wire: 'messages' },
  { id: 'on-gemini', wire: 'gemini' },
] as const;

/** By model id: one for each format. */
export const wireModels: readonly { readonly id: string }[] = [
  ...loopModels,
  { id: 'on-converse' },
];

/** By model id, with those on clouds: Claude on Bedrock by Converse and by `invoke`. */
export const everyLoopModel: readonly { readonly id: string }[] = [
  ...loopModels,
  { id: 'on-converse' },
  { id: 'on-invoke' },
  { id: 'on-vertex-claude' },
  { id: 'on-vertex-gemini' },
  { id: 'on-azure' },
  { id: 'on-azure-claude' },
];

export type LoopGateway = {
  readonly gateway: TestGateway;
  readonly key: string;
  /** Plays another script on every model's host. */
  readonly play: (script: (wire: LoopWire, framing: Framing) => Script) => void;
};

const claude = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const onBedrock = `/bedrock/model/${encodeURIComponent(claude)}`;
const onVertex = (version: string, model: string) =>
  `/vertex/${version}/projects/my-project/locations/global/publishers/${model}`;
const claudeOnVertex = onVertex('v1', 'anthropic/models/claude-haiku-4-5');
const geminiOnVertex = onVertex('v1beta1', 'google/models/gemini-3.8-flash');
const calls = (model: string, ...names: readonly string[]) => names.map((name) => model + name);

const hosts: readonly {
  readonly wire: LoopWire;
  readonly framing?: Framing;
  readonly paths: readonly string[];
}[] = [
  { wire: 'responses', paths: ['/v1/responses', '/azure/openai/v1/responses'] },
  { wire: 'chat', paths: ['/local/v1/chat/completions'] },
  { wire: 'messages', paths: ['/v1/messages', '/azure/anthropic/v1/messages'] },
  { wire: 'messages', paths: calls(claudeOnVertex, ':rawPredict', ':streamRawPredict') },
  {
    wire: 'messages',
    framing: 'invoke',
    paths: calls(onBedrock, '/invoke', '/invoke-with-response-stream'),
  },
  {
    wire: 'converse',
    framing: 'converse',
    paths: calls(onBedrock, '/converse', '/converse-stream'),
  },
  ...['/v1beta/models/upstream', geminiOnVertex].map((model) => ({
    wire: 'gemini' as const,
    paths: calls(model, ':generateContent', ':streamGenerateContent'),
  })),
];

/** `key`: a live key with enough balance. `fields`: of each model. */
export async function startLoopGateway(fields: object = {}): Promise<LoopGateway> {
  const gateway = await startGateway(({ url }) => ({
    providers: hostProviders(url, { api_key: upstreamKey }),
    models: {
      'on-converse': modelOn({ provider: 'bedrock', model: claude, api: 'converse' }, fields),
      'on-invoke': modelOn({ provider: 'bedrock', model: claude }, fields),
      'on-vertex-claude': modelOn({ provider: 'vertex', model: 'claude-haiku-4-5' }, fields),
      'on-vertex-gemini': modelOn({ provider: 'vertex', model: 'gemini-3.8-flash' }, fields),
      'on-azure': modelOn({ provider: 'azure', api: 'responses' }, fields),
      'on-azure-claude': modelOn({ provider: 'azure', model: 'claude-haiku-4-5' }, fields),
      'on-responses': modelOn({ provider: 'openai', api: 'responses' }, fields),
      'on-chat': modelOn({ provider: 'local' }, fields),
      'on-messages': modelOn({ provider: 'anthropic', model: 'claude-haiku-4-5' }, fields),
      'on-gemini': modelOn({ provider: 'google' }, fields),
    },
  }));
  const play: LoopGateway['play'] = (script) => {
    for (const { wire, framing = 'sse', paths } of hosts)
      for (const path of paths) gateway.upstream.on(path, script(wire, framing));
  };
  play(playToolLoop);
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1_000 });
  return { gateway, key, play };
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
