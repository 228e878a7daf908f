// The output limit of the hold is the one sent upstream: on every straight path and translation,
// under each of its names.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { answerContent, type WireName } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';

const modelMax = 4_000;
const defaultMax = 2_500;
/** By the name of the model. */
const upstreams = {
  responses: ['openai', 'responses', '/v1/responses', 'max_output_tokens'],
  chat: ['openai', 'chat', '/v1/chat/completions', 'max_completion_tokens'],
  messages: ['anthropic', 'messages', '/v1/messages', 'max_tokens'],
  local: ['local', 'chat', '/local/v1/chat/completions', 'max_tokens'],
} as const;

/** `n`: Chat only. */
type Limit = Readonly<Record<string, unknown>> & { readonly n?: number };

const ask = [{ role: 'user', content: 'Hello!' }];
const clients: readonly {
  readonly wire: WireName;
  readonly path: string;
  readonly body: object;
  readonly limits: readonly Limit[];
}[] = [
  {
    wire: 'responses',
    path: '/v1/responses',
    body: { input: 'Hello!' },
    limits: [
      {},
      { max_output_tokens: 1 },
      { max_output_tokens: 300 },
      { max_output_tokens: 1e300 },
    ],
  },
  {
    wire: 'chat',
    path: '/v1/chat/completions',
    body: { messages: ask },
    limits: [
      {},
      { max_tokens: 7 },
      { max_completion_tokens: 3_000 },
      { max_tokens: 900, max_completion_tokens: 40 },
      { max_tokens: null, max_completion_tokens: 1e300 },
      { n: 3, max_completion_tokens: 100 },
    ],
  },
  {
    wire: 'messages',
    path: '/v1/messages',
    body: { messages: ask },
    limits: [
      { max_tokens: 1 },
      { max_tokens: 1_000_000 },
      { max_tokens: 3_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 8_000 } },
    ],
  },
];

const model = ([provider, api]: readonly [provider: string, api: string, ...unknown[]]) => ({
  display_name: 'Limited',
  owned_by: 'test',
  routes: [{ provider, model: 'm', api }],
  max_input_tokens: 100_000,
  max_output_tokens: modelMax,
  supports: { thinking: true, streaming: true, vision: false },
  prices: { input: 1, output: 2, cache_write: 1, cache_write_1h: 1, cache_read: 1 },
});
const gateway = await startGateway({
  limits: { default_max_output_tokens: defaultMax },
  models: Object.fromEntries(
    Object.entries(upstreams).map(([name, upstream]) => [`to-${name}`, model(upstream)]),
  ),
});
for (const [, api, path] of Object.values(upstreams)) {
  gateway.upstream.on(
    path,
    answerContent(api, { text: 'Hello.', tokens: { input: 5, output: 2 } }),
  );
}
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
after(() => gateway.stop());

for (const client of clients) {
  for (const [name, [, api, , limitField]] of Object.entries(upstreams)) {
    test(`${client.wire} to ${name}: the held output limit is the one sent upstream`, async () => {
      for (const limit of client.limits) {
        const body = { model: `to-${name}`, ...client.body, ...limit, stream: true };
        const reply = await gateway.post(client.path, { key, body });
        const choices = limit.n ?? 1;
        if (choices > 1 && api !== client.wire) {
          assert.equal(reply.status, 400);
          continue;
        }
        assert.equal(reply.status, 200, reply.text);
        const sent = gateway.upstream.requests.at(-1)!.body as Record<string, unknown> & {
          thinking?: { budget_tokens?: number };
        };
        const sentMax = sent[limitField] as number;
        if (api === 'chat')
          assert.ok(
            !('max_tokens' in sent && 'max_completion_tokens' in sent),
            'one limit, not two',
          );
        const held = Number(reply.headers['x-service-reserved-micros']);
        assert.equal(
          held,
          (estimateInputTokens(body).upper + sentMax * 2) * choices,
          JSON.stringify([limit, sentMax]),
        );
        assert.ok(sentMax <= modelMax);
        assert.ok((sent.thinking?.budget_tokens ?? 0) < sentMax);
      }
    });
  }
}
