// Long tool names, and names with special characters, from the official packages to providers that
// refuse them: every request passes the provider's own limit, and the client sees only its own
// names.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startLoopGateway, wireModels } from '../support/loop-gateway.ts';
import type { Framing } from '../support/model-hosts.ts';
import { turnFormats } from '../support/answers.ts';
import { playTurns, type LoopWire } from '../support/tool-loop.ts';
import type { Body } from '../support/turn-format.ts';
import { answerStatus, type Script } from '../support/upstream.ts';

const prefix = `mcp__plugin_everything-claude-code_github.server__${'x'.repeat(100)}`;
const first = `${prefix}_list`;
const second = `${prefix}_read`;
const patterns: Readonly<Record<LoopWire, RegExp>> = {
  responses: /^[a-zA-Z0-9_-]{1,128}$/,
  chat: /^[a-zA-Z0-9_-]{1,64}$/,
  messages: /^[a-zA-Z0-9_-]{1,128}$/,
  converse: /^[a-zA-Z0-9_-]{1,64}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
};

const loop = await startLoopGateway();
const openai = new OpenAI({ baseURL: `${loop.gateway.url}/v1`, apiKey: loop.key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: loop.gateway.url, apiKey: loop.key, maxRetries: 0 });
loop.play(callLast);
after(() => loop.gateway.stop());

/** Calls the last tool until there is a result. */
function callLast(wire: LoopWire, framing: Framing): Script {
  const play = playTurns(wire, framing, (format, body) => {
    const isOver = format.readResults(body).length > 0;
    const name = format.toolNames(body).at(-1)!;
    const calls = isOver ? [] : [{ id: 'call_1', name, arguments: { a: 1 } }];
    return { calls, text: isOver ? 'Done.' : null, thought: null };
  });
  return (response, request) => {
    const body = request.body as Body;
    const names = turnFormats[wire].toolNames(body);
    const bad = namesIn(body).find((name) => !patterns[wire].test(name) || !names.includes(name));
    if (bad === undefined) return play(response, request);
    return answerStatus(400, { body: { error: { message: `invalid name ${bad}` } } })(
      response,
      request,
    );
  };
}

/** Every tool name in a request; in these tests nothing else has a name. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    if (field === 'name' && typeof inner === 'string') return [inner];
    return field === 'allowedFunctionNames' ? (inner as string[]) : namesIn(inner);
  });
}

const parameters = { type: 'object', properties: { a: { type: 'number' } } };

for (const { id: model } of wireModels) {
  for (const isStream of [false, true]) {
    const how = isStream ? 'streamed' : 'whole';

    test(`${model}, ${how}: chat`, async () => {
      const ask = async (body: OpenAI.ChatCompletionCreateParamsNonStreaming) =>
        isStream
          ? openai.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
          : openai.chat.completions.create(body);
      const question = { role: 'user' as const, content: 'Read' };
      const tools = [first, second].map((name) => ({
        type: 'function' as const,
        function: { name, parameters },
      }));
      const forced = { type: 'function' as const, function: { name: second } };
      const allowed = {
        type: 'allowed_tools' as const,
        allowed_tools: {
          mode: 'required' as const,
          tools: [{ type: 'function', function: { name: second } }],
        },
      };
      for (const choice of [undefined, forced, allowed]) {
        const answer = await ask({
          model,
          messages: [question],
          tools,
          ...(choice && { tool_choice: choice }),
        });
        const { message } = answer.choices[0]!;
        const [call] = message.tool_calls ?? [];
        assert.deepEqual(call?.type === 'function' && call.function, {
          ...(call as never as { function: object }).function,
          name: second,
        });
        const result = { role: 'tool' as const, tool_call_id: call!.id, content: 'ok' };
        const last = await ask({ model, messages: [question, message, result], tools });
        assert.equal(last.choices[0]!.message.content, 'Done.');
      }
    });

    test(`${model}, ${how}: responses`, async () => {
      const ask = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
        isStream
          ? openai.responses.stream({ ...body, stream: true }).finalResponse()
          : openai.responses.create(body);
      const tools = [first, second].map((name) => ({
        type: 'function' as const,
        name,
        parameters,
        strict: false,
      }));
      const forced = { type: 'function' as const, name: second };
      const allowed = {
        type: 'allowed_tools' as const,
        mode: 'required' as const,
        tools: [{ ...forced }],
      };
      for (const choice of [undefined, forced, allowed]) {
        const answer = await ask({
          model,
          input: 'Read',
          tools,
          ...(choice && { tool_choice: choice }),
        });
        const [call] = answer.output.flatMap((item) =>
          item.type === 'function_call' ? [item] : [],
        );
        assert.ok(call);
        assert.equal(call.name, second);
        const input: OpenAI.Responses.ResponseInputItem[] = [
          { role: 'user', content: 'Read' },
          call,
          { type: 'function_call_output', call_id: call.call_id, output: 'ok' },
        ];
        const last = await ask({ model, input, tools });
        assert.equal(last.output_text, 'Done.');
        assert.ok(
          !JSON.stringify([answer, last]).includes(sentName()),
          'the client sees its own names alone',
        );
      }
    });

    test(`${model}, ${how}: messages`, async () => {
      const ask = async (body: Anthropic.MessageCreateParamsNonStreaming) =>
        isStream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
      const question = { role: 'user' as const, content: 'Read' };
      const tools = [first, second].map((name) => ({
        name,
        input_schema: { ...parameters, type: 'object' as const },
      }));
      const forced = { type: 'tool' as const, name: second };
      for (const choice of [undefined, forced]) {
        const answer = await ask({
          model,
          max_tokens: 1_000,
          messages: [question],
          tools,
          ...(choice && { tool_choice: choice }),
        });
        const call = answer.content.find((block) => block.type === 'tool_use')!;
        assert.equal(call.name, second);
        const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'ok' };
        const messages = [
          question,
          { role: 'assistant' as const, content: answer.content },
          { role: 'user' as const, content: [result] },
        ];
        const last = await ask({ model, max_tokens: 1_000, messages, tools });
        assert.deepEqual(
          last.content.map((block) => block.type === 'text' && block.text),
          ['Done.'],
        );
      }
    });
  }
}

test('a forced tool that is not defined is refused under the client’s name', async () => {
  const body = {
    model: 'on-messages',
    messages: [{ role: 'user' as const, content: 'Read' }],
    tools: [{ type: 'function' as const, function: { name: first, parameters } }],
    tool_choice: { type: 'function' as const, function: { name: second } },
  };
  await assert.rejects(
    openai.chat.completions.create(body),
    (error) => error instanceof OpenAI.BadRequestError && error.message.includes(second),
  );
});

/** The upstream's name of the second tool. */
function sentName(): string {
  const { path, body } = loop.gateway.upstream.requests.at(-1)!;
  const wire = path.endsWith('responses')
    ? 'responses'
    : path.endsWith('completions')
      ? 'chat'
      : path.endsWith('messages')
        ? 'messages'
        : 'gemini';
  return turnFormats[wire].toolNames(body as Body).at(-1)!;
}

test('in test mode a directive calls a tool by the client’s name', async () => {
  const { key } = await loop.gateway.makeKey();
  for (const { id: model } of wireModels) {
    const reply = await loop.gateway.post('/v1/chat/completions', {
      key,
      body: {
        model,
        messages: [{ role: 'user', content: `sandbox: tool=${second} {"a":1}` }],
        tools: [first, second].map((name) => ({
          type: 'function',
          function: { name, parameters },
        })),
      },
    });
    assert.equal(reply.status, 200, reply.text);
    const [call] = reply.json<OpenAI.ChatCompletion>().choices[0]!.message.tool_calls ?? [];
    assert.deepEqual(call?.type === 'function' && call.function, {
      name: second,
      arguments: '{"a":1}',
    });
  }
});
