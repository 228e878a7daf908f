// Code that uses a key, for each SDK and agent. The guides under /docs have more.
import type { Output } from '../../api/client.ts';
import type { Key } from './key-values.ts';

type ChatModel = Output<'GET /accounts/:account/models'>['chat'][number];

const anyModel = 'gpt-6-luna';

/** Returns the cheapest model that the key may use and that can run, else a well-known one. */
export function sampleModel(
  models: readonly ChatModel[],
  { mode, models: allowed }: Pick<Key, 'mode' | 'models'>,
): string {
  const usable = models.filter(
    ({ id, price, is_live: isLive }) =>
      price !== null && (mode === 'test' || isLive) && (allowed === null || allowed.includes(id)),
  );
  const priceOf = ({ price }: ChatModel) => price!.base.input_micros + price!.base.output_micros;
  const cheapest = usable.toSorted((one, other) => priceOf(one) - priceOf(other))[0];
  return cheapest?.id ?? allowed?.[0] ?? anyModel;
}

export type KeySample = {
  readonly name: string;
  readonly code: string;
  /** Address of the guide. */
  readonly guide: string;
};

/** `baseUrl`: without a trailing slash. */
export function keySamples(place: Place): readonly KeySample[] {
  return [
    { name: 'curl', code: curl(place), guide: '/docs/guides/quick-start' },
    { name: 'OpenAI Python', code: openaiPython(place), guide: '/docs/guides/openai-sdk' },
    { name: 'OpenAI JS', code: openaiJs(place), guide: '/docs/guides/openai-sdk' },
    { name: 'Anthropic SDK', code: anthropic(place), guide: '/docs/guides/anthropic-sdk' },
    { name: 'Google SDK', code: google(place), guide: '/docs/guides/google-sdk' },
    { name: 'Vercel AI SDK', code: vercel(place), guide: '/docs/guides/vercel-ai-sdk' },
    { name: 'Codex', code: codex(place), guide: '/docs/guides/codex' },
    { name: 'Claude Code', code: claudeCode(place), guide: '/docs/guides/claude-code' },
  ];
}

type Place = { readonly baseUrl: string; readonly model: string };

function curl({ baseUrl, model }: Place): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}

function openaiPython({ baseUrl, model }: Place): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`;
}

function openaiJs({ baseUrl, model }: Place): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.TOLLGATE_KEY,
});
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);`;
}

/** Anthropic's SDK adds `/v1` itself. */
function anthropic({ baseUrl, model }: Place): string {
  return `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: '${baseUrl}',
  apiKey: process.env.TOLLGATE_KEY,
});
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content[0].text);`;
}

/** Google's SDK adds the version itself. */
function google({ baseUrl, model }: Place): string {
  return `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  httpOptions: { baseUrl: '${baseUrl}' },
  apiKey: process.env.TOLLGATE_KEY,
});
const answer = await client.models.generateContent({
  model: '${model}',
  contents: 'Hello!',
});
console.log(answer.text);`;
}

function vercel({ baseUrl, model }: Place): string {
  return `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const tollgate = createOpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.TOLLGATE_KEY,
});
const { text } = await generateText({
  model: tollgate.chat('${model}'),
  prompt: 'Hello!',
});
console.log(text);`;
}

function codex({ baseUrl, model }: Place): string {
  return `# ~/.codex/config.toml
model = "${model}"
model_provider = "tollgate"
web_search = "disabled"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${baseUrl}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"`;
}

function claudeCode({ baseUrl, model }: Place): string {
  return `export ANTHROPIC_BASE_URL=${baseUrl}
export ANTHROPIC_AUTH_TOKEN=$TOLLGATE_KEY
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
claude`;
}
