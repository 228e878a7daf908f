// Tools and schemas that vendors refuse as clients send them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import type { UpstreamTarget } from '../src/formats/format.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { asGemini } from './support/as-gemini.ts';
import { clients, openAi, sent, straight, upstreams, user, type Way } from './support/repairs.ts';

test('a tool that repeats an earlier name is left out, where vendors refuse it', () => {
  const chatTools = ['f', 'g', 'f'].map((name) => ({ type: 'function', function: { name } }));
  const tools = ['f', 'g', 'f'].map((name) => ({ name, input_schema: { type: 'object' } }));
  const ways: readonly (readonly [Way, object, Partial<UpstreamTarget>?])[] = [
    [straight('chat'), { messages: [user], tools: chatTools }],
    [straight('messages'), { messages: [user], tools }],
    [
      { client: 'messages', upstream: 'chat' },
      { messages: [user], tools },
    ],
  ];
  for (const [way, body] of ways) {
    const { body: written, ignored } = sent(way, body);
    assert.equal((written.tools as object[]).length, 2, JSON.stringify(way));
    assert.deepEqual(ignored, ['tools[2]']);
  }
  // Each of them by its own place, also behind one that the gateway leaves out.
  const chatSearch = { type: 'web_search' };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  for (const [way, body] of [
    [
      { client: 'chat', upstream: 'messages' },
      { messages: [user], tools: [chatSearch, ...chatTools] },
    ],
    [
      { client: 'messages', upstream: 'chat' },
      { messages: [user], tools: [search, ...tools] },
    ],
  ] as const)
    assert.deepEqual(sent(way, body).ignored, ['tools[0]', 'tools[3]']);
  // Responses has several lists of tools: the repeated one is named.
  const functions = tools.map(({ name }) => ({ type: 'function', name }));
  const fromResponses = sent(
    { client: 'responses', upstream: 'chat' },
    { input: 'x', tools: [{ type: 'file_search' }, ...functions] },
  );
  assert.deepEqual(fromResponses.ignored, ['tools[0]', 'tools.f']);
  const atOpenAi = sent(straight('chat'), { messages: [user], tools: chatTools }, openAi);
  assert.deepEqual([(atOpenAi.body.tools as object[]).length, atOpenAi.ignored], [3, []]);
});

test('an empty list of tools, and what is said about none, is left out', () => {
  const idle = [
    { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
    { tools: [], tool_choice: 'none' },
    { tools: [], tool_choice: null },
    { tools: [] },
  ];
  for (const fields of idle)
    for (const changes of [{}, openAi])
      assert.deepEqual(
        Object.keys(sent(straight('chat'), { messages: [user], ...fields }, changes).body).filter(
          (name) => name.includes('tool'),
        ),
        [],
      );
  // A demand is not left out: the vendor says what is wrong.
  const demanding = { messages: [user], tools: [], tool_choice: 'required' };
  assert.equal(sent(straight('chat'), demanding).body.tool_choice, 'required');
  const bare = { messages: [user], tools: [], tool_choice: { type: 'auto' } };
  const { tools, tool_choice: choice } = sent(straight('messages'), bare).body;
  assert.deepEqual([tools, choice], [undefined, undefined]);
});

test('a tool of Google’s own at the Chat address is left out and listed', () => {
  const tools = [{ googleSearch: {} }, { type: 'function', function: { name: 'f' } }];
  for (const upstream of ['chat', 'messages'] as const) {
    const { body } = sent({ client: 'chat', upstream }, { messages: [user], tools });
    assert.equal((body.tools as unknown[]).length, 1);
  }
  const alone = sent(straight('chat'), { messages: [user], tools: tools.slice(0, 1) });
  assert.deepEqual([alone.body.tools, alone.ignored], [undefined, ['tools[0]']]);
});

test('parallel calls are neither asked for nor forbidden in Chat where OpenAI’s model calls one by one', () => {
  const fields = { ...tools.chat({ type: 'object' }), parallel_tool_calls: true };
  for (const [client, body] of [
    ['chat', fields],
    ['responses', { ...tools.responses({ type: 'object' }), parallel_tool_calls: true }],
  ] as const)
    for (const model of ['o4-mini', 'gpt-4.1']) {
      const written = sent({ client, upstream: 'chat' }, body, { model, isOpenAi: true });
      const isTaken = model === 'gpt-4.1';
      assert.equal(written.body.parallel_tool_calls, isTaken ? true : undefined, client);
      assert.deepEqual(written.ignored, isTaken ? [] : ['parallel_tool_calls']);
    }
});

/** A function's schema as a client of each format sends it. */
type Tools = Record<ClientFormatName, (schema: object | null | undefined) => JsonObject>;
const tools: Tools = {
  gemini: (schema): JsonObject => asGemini(tools.messages(schema)),
  chat: (schema) => ({
    messages: [user],
    tools: [{ type: 'function', function: { name: 't', parameters: schema } }],
  }),
  responses: (schema) => ({
    input: [user],
    tools: [{ type: 'function', name: 't', parameters: schema }],
  }),
  messages: (schema) => ({ messages: [user], tools: [{ name: 't', input_schema: schema }] }),
};

const careless = {
  type: 'object',
  properties: {
    a: { type: 'string', description: null, default: null },
    list: { type: 'array', items: { type: 'object', required: null } },
    any: null,
  },
  required: null,
  additionalProperties: null,
};
const mended = {
  type: 'object',
  properties: {
    a: { type: 'string', default: null },
    list: { type: 'array', items: { type: 'object' } },
    any: {},
  },
};

for (const client of clients) {
  for (const upstream of upstreams) {
    test(`${client} on ${upstream}: keywords of a schema that are null are left out`, () => {
      const { body } = sent({ client, upstream }, tools[client](careless), {
        isOpenAi: upstream === 'responses',
      });
      const text = JSON.stringify(body.tools ?? body['toolConfig']);
      assert.ok(text.includes(JSON.stringify(mended)), text);
    });
  }
}

test('the schema of structured output has no keywords that are null, on every path', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: null };
  const formats: Record<ClientFormatName, object> = {
    chat: {
      messages: [user],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    },
    responses: { input: [user], text: { format: { type: 'json_schema', name: 'n', schema } } },
    messages: { messages: [user], output_config: { format: { type: 'json_schema', schema } } },
    gemini: asGemini({ messages: [user], output_config: { format: { schema } } }),
  };
  for (const client of clients) {
    for (const upstream of upstreams) {
      const { body } = sent({ client, upstream }, formats[client]);
      assert.ok(!JSON.stringify(body).includes('"required"'), `${client} on ${upstream}`);
    }
  }
});

test('Chat and Responses hosts get parameters for every function, and items for every array', () => {
  const bare = { type: 'array' };
  const schema = {
    type: 'object',
    properties: { tags: bare, o: { type: 'object', properties: { deep: bare } } },
  };
  const filled = { type: 'array', items: {} };
  const whole = {
    type: 'object',
    properties: { tags: filled, o: { type: 'object', properties: { deep: filled } } },
  };
  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const upstream of ['chat', 'responses'] as const) {
      for (const changes of [{}, openAi]) {
        const { body } = sent({ client, upstream }, tools[client](schema), changes);
        assert.ok(JSON.stringify(body.tools).includes(JSON.stringify(whole)));
        if (client === 'messages') continue;
        for (const missing of [undefined, null]) {
          const nothing = sent({ client, upstream }, tools[client](missing), changes).body;
          const text = JSON.stringify(nothing.tools);
          assert.ok(text.includes('"parameters":{"type":"object","properties":{}}'), text);
        }
      }
    }
  }
});

test('a schema without faults keeps its bytes', () => {
  const schema = {
    type: 'object',
    allOf: undefined,
    properties: {
      a: { allOf: [{ $ref: '#/$defs/b' }], description: 'x', default: null },
      c: { enum: ['x', null], const: null },
    },
    $defs: { b: { type: ['array', 'null'], items: { type: 'string' } } },
    required: [],
  };
  for (const client of clients) {
    const body = tools[client](JSON.parse(JSON.stringify(schema)) as object);
    const { body: written, ignored } = sent(straight(client), body, {
      isOpenAi: client !== 'messages',
    });
    assert.equal(JSON.stringify(written.tools), JSON.stringify(body.tools));
    assert.deepEqual(ignored, []);
  }
});

test('a schema fits Kimi on the straight path, and what moves into the description is listed', () => {
  const parameters = { type: 'object', properties: { a: { enum: [1, 'x'] } } };
  const { body, ignored } = sent(straight('chat'), tools.chat(parameters), { model: 'kimi-k3' });
  assert.ok(!JSON.stringify(body.tools).includes('"enum"'));
  assert.deepEqual(ignored, ['tools.enum']);
});
