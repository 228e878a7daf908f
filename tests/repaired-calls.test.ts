// Calls of tools and their results that vendors refuse as clients send them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import type { JsonObject } from '../src/lib/json.ts';
import {
  answered,
  called,
  chatCall,
  chatMessages,
  openAi,
  sent,
  straight,
  upstreams,
  user,
} from './support/repairs.ts';

const madeCall = (text: string) => ({ ...chatCall('a'), function: { name: 'f', arguments: text } });

test('an earlier call of Chat has an object as its arguments at hosts that parse them', () => {
  const wrapped = (text: string) => JSON.stringify({ invalid_json_arguments: text });
  // The output limit cut off the answer with this call.
  const cut = '{"city":"Par';
  const inText = JSON.stringify('{"city":"Paris"}');
  const cases: Readonly<Record<string, readonly [host: string, openAi?: string]>> = {
    ' ': ['{}'],
    null: ['{}'],
    '[]': ['{}'],
    [inText]: ['{"city":"Paris"}'],
    '{"id": 12345678901234567890}': ['{"id": 12345678901234567890}'],
    [cut]: [wrapped(cut), cut],
    '[1]': [wrapped('[1]'), '[1]'],
  };
  for (const [text, [atHost, atOpenAi = atHost]] of Object.entries(cases)) {
    const messages = [user, { ...called(), tool_calls: [madeCall(text)] }, answered('a')];
    for (const [expected, changes] of [[atHost], [atOpenAi, openAi]] as const) {
      const fitted = { ...called(), tool_calls: [madeCall(expected)] };
      assert.deepEqual(chatMessages(messages, changes), [user, fitted, answered('a')], text);
    }
    const input = [
      user,
      { type: 'function_call', call_id: 'a', name: 'f', arguments: text },
      { type: 'function_call_output', call_id: 'a', output: 'r' },
    ];
    const translated = sent({ client: 'responses', upstream: 'chat' }, { input }).body.messages;
    assert.deepEqual((translated as JsonObject[])[1]!.tool_calls, [madeCall(atHost)], text);
  }
});

test('arguments with more values than a request may have are sent as they came', () => {
  const long = `{ "a": [${Array(60_000).fill(0).join()}] }`;
  const half = `{ "a": [${Array(30_000).fill(0).join()}] }`;
  const argumentsIn = (...texts: readonly string[]) => {
    const calls = texts.map((text, index) => ({ ...madeCall(text), id: `c${index}` }));
    const results = calls.map(({ id }) => answered(id));
    const [, { tool_calls: written }] = chatMessages([
      user,
      { ...called(), tool_calls: calls },
      ...results,
    ]) as [JsonObject, { tool_calls: ReturnType<typeof madeCall>[] }];
    return written.map((call) => call.function.arguments);
  };
  const [kept, none] = argumentsIn(long, ' ');
  assert.ok(kept === long && none === '{}');
  // Values of arguments that are JSON inside a text count towards the limit, too.
  const inText = JSON.stringify(half);
  const [first, second] = argumentsIn(half, inText);
  assert.ok(first === half && second === JSON.stringify({ invalid_json_arguments: inText }));
});

test('a call’s id is as short as OpenAI’s Chat wants it, and the same in its result', () => {
  const own = 'x'.repeat(40);
  const long = 'fc_0f0e50a1476a6c35006912c58dc9f8819192c25864eb16f07f';
  const idsOf = (messages: readonly JsonObject[]) =>
    messages.flatMap(({ tool_calls: calls, tool_call_id: id }) =>
      Array.isArray(calls) ? calls.map((call: JsonObject) => call.id) : (id ?? []),
    );
  const history = [user, called(own, long), answered(own), answered(long)];
  const input = [
    user,
    ...[own, long].map((id) => ({
      type: 'function_call',
      call_id: id,
      name: 'f',
      arguments: '{}',
    })),
    ...[own, long].map((id) => ({ type: 'function_call_output', call_id: id, output: 'r' })),
  ];
  for (const changes of [openAi, { model: 'openai/gpt-5.4' }]) {
    const translated = sent({ client: 'responses', upstream: 'chat' }, { input }, changes).body;
    for (const messages of [chatMessages(history, changes), translated.messages as JsonObject[]]) {
      const [first, second, ...results] = idsOf(messages);
      assert.equal(first, own);
      assert.match(JSON.stringify(second), /^"[\w-]{1,40}"$/);
      assert.deepEqual(results, [first, second]);
    }
  }
  assert.deepEqual(idsOf(chatMessages(history)), [own, long, own, long]);
});

test('a late result in a Responses history is put behind its call', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });
  const said = { role: 'assistant', content: [{ type: 'output_text', text: 'Hm.' }] };
  const input = [user, call('a'), call('b'), output('a'), said, output('b'), user];
  const chat = sent({ client: 'responses', upstream: 'chat' }, { input }).body;
  assert.deepEqual(chat.messages, [
    user,
    called('a', 'b'),
    answered('a', 'a'),
    answered('b', 'b'),
    { role: 'assistant', content: 'Hm.' },
    user,
  ]);
  // OpenAI takes it where it is.
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, input);
});

const interrupted = '[No result: the call was interrupted.]';
const lost = '[Output of the tool call gone, which is not in this conversation]';

test('a call without result gets one that says so, and a result without its call is text of the user', () => {
  assert.deepEqual(chatMessages([user, called('a', 'b'), answered('b'), answered('gone'), user]), [
    user,
    called('a', 'b'),
    answered('b'),
    answered('a', interrupted),
    {
      role: 'user',
      content: [
        { type: 'text', text: lost },
        { type: 'text', text: 'r' },
      ],
    },
    user,
  ]);
  const custom = { type: 'custom_tool_call', call_id: 'a', name: 'f', input: 'x' };
  const orphan = { type: 'function_call_output', call_id: 'gone', output: 'r' };
  assert.deepEqual(
    sent(straight('responses'), { input: [user, custom, orphan] }, openAi).body.input,
    [
      user,
      custom,
      {
        type: 'custom_tool_call_output',
        call_id: 'a',
        output: [{ type: 'input_text', text: interrupted }],
      },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: lost },
          { type: 'input_text', text: 'r' },
        ],
      },
    ],
  );
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'text', text: 'go on' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'gone', content: 'r' }] },
  ];
  assert.deepEqual(sent(straight('messages'), { messages }).body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
    messages[1],
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: interrupted }] },
        { type: 'text', text: 'go on' },
        { type: 'text', text: lost },
        { type: 'text', text: 'r' },
      ],
    },
  ]);
});

test('a call that runs on beside the conversation stays without a result, for OpenAI', () => {
  const running = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', async: true };
  const custom = { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'x', async: true };
  const input = [user, running, custom, user];
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, input);
  const elsewhere = sent(straight('responses'), { input }).body.input as JsonObject[];
  assert.deepEqual(
    elsewhere.map(({ call_id: id = null }) => id),
    [null, 'a', 'a', 'b', 'b', null],
  );
});

// github.com/openai/codex/issues/42088 (read 2026-11-30)
test('a result that names its tool and no call is kept for OpenAI, and text of the user elsewhere', () => {
  const own = { type: 'function_call_output', name: 'clock', output: 'noon' };
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
  const result = { type: 'function_call_output', call_id: 'a', output: 'r' };
  const input = [user, call, result, { ...own, call_id: null }];
  const openAiInput = [user, call, result, own];
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, openAiInput);
  const words = (type: string) => [
    { type, text: '[Output of the tool clock]' },
    { type, text: 'noon' },
  ];
  const told = { role: 'user', content: words('input_text') };
  const elsewhere = sent(straight('responses'), { input }).body.input;
  assert.deepEqual(elsewhere, [user, call, result, told]);
  const chat = sent({ client: 'responses', upstream: 'chat' }, { input }).body.messages;
  assert.deepEqual((chat as JsonObject[]).at(-1), { role: 'user', content: words('text') });
});

test('an id of an item that is repeated or too long is left out, for OpenAI', () => {
  const said = (id: string) => ({
    type: 'message',
    role: 'assistant',
    id,
    content: [{ type: 'output_text', text: 'Hm.' }],
  });
  const thoughtAs = (id: string) => ({
    type: 'reasoning',
    id,
    summary: [],
    encrypted_content: 'gAAA',
  });
  const items = [said('msg_4'), thoughtAs('rs_1'), said('msg_4'), thoughtAs('rs_1')];
  const long = said(`msg_${'x'.repeat(70)}`);
  const { input } = sent(straight('responses'), { input: [user, ...items, long] }, openAi).body;
  assert.deepEqual(
    (input as JsonObject[]).map(({ id = null }) => id),
    [null, 'msg_4', 'rs_1', null, null, null],
  );
});

test('a call without arguments has none, and a result without words is empty', () => {
  for (const none of [{}, { arguments: null }]) {
    const call = { ...chatCall('a'), function: { name: 'f', ...none } };
    const result = {
      role: 'tool',
      tool_call_id: 'a',
      ...('arguments' in none && { content: null }),
    };
    for (const changes of [{}, openAi])
      assert.deepEqual(
        chatMessages([user, { ...called('a'), tool_calls: [call] }, result], changes),
        [user, called('a'), answered('a', '')],
      );
    const legacy = { role: 'assistant', content: null, function_call: { name: 'f', ...none } };
    const said = { role: 'function', name: 'f', ...('arguments' in none && { content: null }) };
    assert.deepEqual(chatMessages([user, legacy, said], openAi), [
      user,
      { ...legacy, function_call: { name: 'f', arguments: '{}' } },
      { ...said, content: null },
    ]);
  }
  const call = { type: 'function_call', call_id: 'a', name: 'f' };
  const output = { type: 'function_call_output', call_id: 'a' };
  const custom = { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'x' };
  const written = { type: 'custom_tool_call_output', call_id: 'b', output: null };
  const { input } = sent(
    straight('responses'),
    { input: [user, call, output, custom, written] },
    openAi,
  ).body;
  assert.deepEqual(input, [
    user,
    { ...call, arguments: '{}' },
    { ...output, output: '' },
    custom,
    { ...written, output: '' },
  ]);
});

test('two results for one call become one', () => {
  assert.deepEqual(chatMessages([user, called('a'), answered('a', '1'), answered('a', '2')]), [
    user,
    called('a'),
    answered('a', '1\n2'),
  ]);
  const result = (content: string, fields: object = {}) => ({
    type: 'tool_result',
    tool_use_id: 'a',
    content,
    ...fields,
  });
  const call = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }],
  };
  const twice = { role: 'user', content: [result('1'), result('2', { is_error: true })] };
  const { body } = sent(straight('messages'), { messages: [call, twice] });
  assert.deepEqual((body.messages as JsonObject[])[1]!.content, [
    {
      ...result('', { is_error: true }),
      content: [
        { type: 'text', text: '1' },
        { type: 'text', text: '2' },
      ],
    },
  ]);
});

test('a result whose call is only in a previous response is refused, because nothing is kept', () => {
  const input = [{ type: 'function_call_output', call_id: 'a', output: 'r' }];
  for (const upstream of upstreams) {
    assert.throws(
      () => sent({ client: 'responses', upstream }, { input, previous_response_id: 'resp_1' }),
      (error) => error instanceof ApiError && error.param === 'input[0].call_id',
    );
  }
});
