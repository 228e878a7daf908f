// A number in the arguments of a call, such as an id, arrives with all its digits, whichever formats
// client and provider speak.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { modelOf } from '../support/model-of.ts';
import { answerJson, answerSse } from '../support/upstream.ts';

const id = '1234567890123456789';
const rounded = /12345678901234567(?:70|68|80|00)|1\.2345678901234568e/;
const exact = { input: { id: JSON.rawJSON(id) } };

const gateway = await startGateway({
  models: {
    O: modelOf([{ provider: 'openai', model: 'gpt-4.1', api: 'chat' }]),
    M: modelOf([{ provider: 'anthropic', model: 'claude-sonnet-4-5' }]),
    G: modelOf([{ provider: 'google', model: 'gemini-2.5-flash' }]),
  },
});
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

const messageHead = { id: 'msg_1', type: 'message', role: 'assistant', model: 'x' };
const messagesUsage = { input_tokens: 5, output_tokens: 3 };

function script(to: string, stream: boolean): void {
  const { upstream } = gateway;
  const args = `{"id":${id}}`;
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: args } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  const chunk = (choice: object) => ({
    data: { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [choice] },
  });
  if (to === 'O')
    upstream.on(
      '/v1/chat/completions',
      stream
        ? answerSse([
            chunk({ index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, ...call }] } }),
            chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
            { data: { id: 'c', object: 'chat.completion.chunk', choices: [], usage } },
            '[DONE]',
          ])
        : answerJson({
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'x',
            choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
            usage,
          }),
    );
  const part = { functionCall: { name: 'f', args: exact.input } };
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP' };
  const gemini = {
    candidates: [candidate],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 },
  };
  const path = `/v1beta/models/gemini-2.5-flash:${stream ? 'streamG' : 'g'}enerateContent`;
  if (to === 'G') upstream.on(path, stream ? answerSse([{ data: gemini }]) : answerJson(gemini));
  if (to === 'M')
    upstream.on(
      '/v1/messages',
      answerJson({
        ...messageHead,
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', ...exact }],
        stop_reason: 'tool_use',
        usage: messagesUsage,
      }),
    );
}

const tools = {
  chat: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  responses: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
  messages: [{ name: 'f', input_schema: { type: 'object' } }],
};
const paths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
const user = { role: 'user', content: 'Hi' };

for (const to of ['O', 'M', 'G'])
  for (const format of ['chat', 'responses', 'messages'] as const)
    for (const stream of to === 'M' ? [false] : [false, true])
      test(`${format} from ${to}, ${stream ? 'streamed' : 'whole'}`, async () => {
        script(to, stream);
        const asked =
          format === 'responses' ? { input: [user] } : { messages: [user], max_tokens: 100 };
        const reply = await gateway.post(paths[format], {
          key,
          body: { model: to, stream, tools: tools[format], ...asked },
        });
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.text.includes(id), reply.text);
        assert.doesNotMatch(reply.text, rounded);
      });

test('the history that a client sends back keeps the digits too', async () => {
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', ...exact }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
  ];
  for (const model of ['O', 'M', 'G']) {
    script(model, false);
    const body = { model, max_tokens: 100, tools: tools.messages, messages };
    const reply = await gateway.post('/v1/messages', { key, body });
    assert.equal(reply.status, 200, reply.text);
    const sent = gateway.upstream.requests.at(-1)!.text;
    assert.ok(sent.includes(id), sent);
    assert.doesNotMatch(sent, rounded);
  }
});
