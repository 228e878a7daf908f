// The requests of clients that no test runs (editors, servers, programs that no registry has), in
// bodies of our own with the fields that their sources and public reports name: each is answered in
// the client's own form on every upstream format, and nothing that the user said is lost.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { turnFrames } from '../programs/turns.ts';
import { answerContent } from '../support/answers.ts';
import { ok } from '../support/http.ts';
import { loopModels, startLoopGateway } from '../support/loop-gateway.ts';
import { answerSse, type Script } from '../support/upstream.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const loop = await startLoopGateway();
const { gateway, key } = loop;
after(() => gateway.stop());

const paths: Readonly<Record<(typeof loopModels)[number]['wire'], readonly string[]>> = {
  responses: ['/v1/responses'],
  chat: ['/local/v1/chat/completions'],
  messages: ['/v1/messages'],
  gemini: ['generateContent', 'streamGenerateContent'].map(
    (method) => `/v1beta/models/upstream:${method}`,
  ),
};
function answerWith(wire: keyof typeof paths, script: Script): void {
  for (const path of paths[wire]) gateway.upstream.on(path, script);
}

const parameters = {
  type: 'object',
  properties: { path: { type: 'string', description: 'A file.' } },
  required: ['path'],
  additionalProperties: false,
};
const nested = (fields: JsonObject = {}) => ({
  type: 'function',
  function: { name: 'read_file', description: 'Reads a file.', parameters, ...fields },
});
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'read_file', arguments: '{"path":"a.txt"}' },
};
const mark = { cache_control: { type: 'ephemeral' } };
const text = (value: string, fields: JsonObject = {}) => ({ type: 'text', text: value, ...fields });
const system = { role: 'system', content: 'You are an agent.' };
const user = { role: 'user', content: 'Read a.txt.' };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'call_1', content: 'the content of a.txt' };
const patch = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
};
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a' } };
const toolResult = {
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: [text('the content of a.txt')],
};
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const schema = { name: 'extract', strict: true, schema: parameters };
const withUsage = { stream_options: { include_usage: true } };

type Case = {
  readonly body: JsonObject;
  readonly path?: '/v1/responses';
  readonly headers?: Readonly<Record<string, string>>;
  /** What must reach the model; left out: the turn and its tool's result. */
  readonly said?: readonly string[];
};
const turn = ['You are an agent.', 'Read a.txt.', 'read_file', 'the content of a.txt'];

const cases: Readonly<Record<string, Case>> = {
  'Cursor’s agent, in Responses’ shape': {
    body: {
      user: 'google-oauth2|1',
      input: [
        system,
        { role: 'user', content: [{ type: 'input_text', text: 'Read a.txt.' }] },
        { type: 'function_call', call_id: 'call_1', ...call.function },
        { type: 'function_call_output', call_id: 'call_1', output: result.content },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'ApplyPatch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'patched' },
      ],
      tools: [{ type: 'function', ...nested().function, strict: false }, patch],
      tool_choice: 'auto',
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      text: { verbosity: 'low' },
      metadata: { cursorConversationId: 'c', cursorRequestId: 'r' },
      prompt_cache_retention: '24h',
      store: false,
      ...withUsage,
    },
    said: [...turn, '*** Begin', 'patched'],
  },
  'Cursor’s Ask mode, with nested and flat tools': {
    body: {
      user: 'google-oauth2|1',
      messages: [system, user, called, result],
      tools: [nested({ strict: false }), patch],
      reasoning_effort: 'medium',
      ...withUsage,
    },
  },
  'Cursor’s agent on a model named claude': {
    body: {
      user: 'google-oauth2|1',
      messages: [
        { role: 'system', content: [text('You are an agent.', mark)] },
        { role: 'user', content: [text('Read a.txt.')] },
        { role: 'assistant', content: [toolUse] },
        { role: 'user', content: [{ ...toolResult, ...mark }] },
      ],
      tools: [{ name: 'read_file', description: 'Reads.', input_schema: parameters }],
      tool_choice: { type: 'auto' },
      ...withUsage,
    },
  },
  'Cline’s extension, with marks and a blank after each': {
    headers: { 'http-referer': 'https://cline.bot', 'x-title': 'Cline' },
    body: {
      messages: [
        { role: 'system', content: [text('You are an agent.', mark)] },
        { role: 'user', content: [text('Read a.txt.', mark), text(' ')] },
        called,
        { ...result, content: [text('the content of a.txt', mark), text(' ')] },
        { role: 'user', content: [text(' ')] },
      ],
      tools: [nested()],
      tool_choice: 'auto',
      temperature: 0,
      session_id: 'task-1',
      ...withUsage,
    },
  },
  'Roo Code': {
    headers: { 'http-referer': 'https://roocode.com', 'x-title': 'Roo Code' },
    body: {
      temperature: 0,
      messages: [
        { role: 'system', content: [text('You are an agent.', mark)] },
        { role: 'user', content: [text('Read a.txt.', mark)] },
        { ...called, content: '', reasoning_content: 'I should read.' },
        result,
        { role: 'user', content: [text('<environment_details>', mark)] },
      ],
      tools: [nested({ strict: true })],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      max_completion_tokens: 8_192,
      ...withUsage,
    },
  },
  Zed: {
    body: {
      messages: [
        system,
        user,
        { ...called, content: [], reasoning_content: 'I should read.' },
        { ...result, content: [text('the content of a.txt')] },
      ],
      stop: [],
      temperature: 1,
      parallel_tool_calls: false,
      prompt_cache_key: 'thread-1',
      max_completion_tokens: 16_000,
      tools: [nested({ parameters: { $schema: 'x', title: 'T', ...parameters } })],
      tool_choice: 'auto',
      ...withUsage,
    },
  },
  'Continue’s extension': {
    body: {
      messages: [
        system,
        { role: 'user', content: [text('Read a.txt.')] },
        { ...called, content: ' ' },
        result,
      ],
      tools: [{ ...nested(), displayTitle: 'Read file', readonly: true, group: 'Built-In' }],
      max_tokens: 2_048,
      temperature: 0,
      top_p: null,
      frequency_penalty: null,
      stop: null,
      parallel_tool_calls: false,
    },
  },
  goose: {
    body: {
      messages: [
        system,
        user,
        { ...called, reasoning_content: 'I should read.', content: null },
        result,
        { role: 'user', content: [image] },
      ],
      tools: [nested({ parameters: { ...parameters, $schema: 'https://json-schema.org/schema' } })],
      temperature: 0.5,
      max_tokens: 2_048,
      ...withUsage,
    },
  },
  'goose, which names a session with few words': {
    body: { messages: [{ ...system, content: 'Name it.' }, user], max_tokens: 40 },
    said: ['Name it.', 'Read a.txt.'],
  },
  'aider’s ping that keeps a cache': {
    body: {
      messages: [
        { role: 'system', content: [text('You are an agent.', mark)] },
        { role: 'user', content: [text('Read a.txt.', mark)] },
      ],
      max_tokens: 1,
      temperature: 0,
    },
    said: ['You are an agent.', 'Read a.txt.'],
  },
  'Open WebUI': {
    headers: { 'x-openwebui-user-name': 'Ann', 'x-openwebui-chat-id': 'c' },
    body: {
      messages: [
        system,
        { role: 'user', content: [text('Read a.txt.')] },
        called,
        { ...result, name: 'read_file' },
      ],
      // Objects of a pipeline and of llama.cpp, and parameters that an administrator adds.
      continue_final_message: true,
      add_generation_prompt: false,
      logit_bias: {},
      top_k: 40,
      min_p: 0.05,
      repeat_penalty: 1.1,
      tools: [nested()],
      ...withUsage,
    },
  },
  'Open WebUI’s title, tags and follow-ups': {
    body: {
      messages: [{ role: 'user', content: '### Task:\nWrite a title as JSON.' }],
      max_completion_tokens: 1_000,
    },
    said: ['Write a title as JSON.'],
  },
  'LibreChat’s agent': {
    body: {
      messages: [system, user, called, { ...result, name: 'read_file' }],
      user: '68906998cc83815dd7244885',
      temperature: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      include_reasoning: true,
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [nested()],
      ...withUsage,
    },
  },
  'LibreChat’s title, as a forced tool': {
    body: {
      messages: [user],
      user: '68906998cc83815dd7244885',
      tools: [nested({ name: 'extract', strict: false })],
      tool_choice: { type: 'function', function: { name: 'extract' } },
      parallel_tool_calls: false,
    },
    said: ['Read a.txt.', 'extract'],
  },
  'LibreChat’s title, as a schema': {
    body: {
      messages: [user],
      response_format: { type: 'json_schema', json_schema: schema },
    },
    said: ['Read a.txt.'],
  },
  'n8n’s agent': {
    body: {
      messages: [system, user, { ...called, content: '' }, result],
      temperature: 0.7,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      n: 1,
      tools: [nested({ strict: false })],
      ...withUsage,
    },
  },
  'n8n’s agent with the Responses API': {
    path: '/v1/responses',
    body: {
      input: [
        { type: 'message', ...system },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read a.txt.' }] },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1', ...call.function },
        { type: 'function_call_output', call_id: 'call_1', output: result.content },
      ],
      temperature: 0.7,
      top_p: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tools: [{ type: 'function', ...nested().function, strict: false }],
      parallel_tool_calls: true,
      store: false,
      background: false,
      metadata: {},
      truncation: 'disabled',
    },
  },
  'n8n’s title of a chat': {
    body: { messages: [{ role: 'user', content: 'Write a title.' }], temperature: 0.7 },
    said: ['Write a title.'],
  },
};

const answer = { text: '{"path":"a.txt"}', tokens: { input: 20, output: 5 } };

for (const [
  place,
  [client, { body, path = '/v1/chat/completions', headers, said = turn }],
] of Object.entries(cases).entries()) {
  describe(client, () => {
    for (const [index, { id: model, wire }] of loopModels.entries()) {
      // Whole and streamed in turn: how answers are written is no matter of the request.
      const stream = (place + index) % 2 === 1;
      test(`on ${wire}, ${stream ? 'streamed' : 'whole'}`, async () => {
        answerWith(wire, answerContent(wire, answer));
        const count = gateway.upstream.requests.length;
        const asked = { model, ...body, stream, ...(!stream && { stream_options: undefined }) };
        const reply = await gateway.post(path, { key, headers, body: asked });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(readAnswer(path, reply.text, stream), answer.text);
        const sent = JSON.stringify(gateway.upstream.requests[count]!.body);
        for (const part of said) assert.ok(sent.includes(part), `${part} in ${sent}`);
        // Only OpenAI knows custom tools, and Anthropic refuses a text without a word.
        if (wire !== 'responses') assert.doesNotMatch(sent, /"type":"custom"/);
        if (wire === 'messages') assert.doesNotMatch(sent, /"text":"\s*"/);
      });
    }
  });
}

const eventsOf = (body: string) => {
  const lines = body.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
};

/** The text of an answer in the client's form, which is checked. */
function readAnswer(path: string, body: string, stream: boolean): string {
  const isChat = path === '/v1/chat/completions';
  if (!stream) {
    const whole = JSON.parse(body);
    if (!isChat) return whole.output.at(-1).content[0].text;
    assert.equal(whole.object, 'chat.completion');
    assert.equal(whole.choices[0].finish_reason, 'stop');
    return whole.choices[0].message.content;
  }
  const events = eventsOf(body);
  if (!isChat) {
    assert.equal(events.at(-1).type, 'response.completed');
    return events.flatMap((event) => event.delta ?? []).join('');
  }
  assert.match(body, /data: \[DONE\]\s*$/);
  for (const { object } of events) assert.equal(object, 'chat.completion.chunk');
  return events.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

describe('Cursor’s agent gets a call of a custom tool in chunks of Chat', () => {
  const input = '*** Begin Patch\n*** Add File: a.txt\n+"x"\n*** End Patch';
  for (const { id: model, wire } of loopModels) {
    test(`on ${wire}`, async () => {
      const isNative = wire === 'responses';
      const patching = {
        call: { name: 'ApplyPatch', input: isNative ? input : { input } },
        thinking: { text: 'I patch.', signature: 'c2lnbmF0dXJl' },
      };
      answerWith(wire, answerSse(turnFrames(wire, patching)));
      const { body } = cases['Cursor’s agent, in Responses’ shape']!;
      const sent = { key, body: { model, ...body, stream: true } };
      const reply = await ok(gateway.post('/v1/chat/completions', sent));
      const choices = eventsOf(reply.text).flatMap((event) => event.choices);
      const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
      assert.equal(calls[0].type, 'custom');
      assert.equal(calls[0].custom.name, 'ApplyPatch');
      assert.equal(calls.map(({ custom }) => custom?.input ?? '').join(''), input);
      assert.equal(choices.at(-1).finish_reason, 'tool_calls');
    });
  }
});
