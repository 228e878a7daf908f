// What clients send and vendors refuse is repaired before it is sent, on the straight path as in
// translation. Each case was reported for another gateway or an agent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../src/terms/format-name.ts';
import { ApiError } from '../src/canonical/errors.ts';
import type { UpstreamTarget } from '../src/formats/format.ts';
import { clientFormats } from '../src/formats/registry.ts';
import type { JsonObject } from '../src/lib/json.ts';
import {
  answered,
  called,
  chatCall,
  chatMessages,
  openAi,
  sent,
  straight,
  user,
  type Way,
} from './support/repairs.ts';

test('empty lists in earlier messages of Chat are left out', () => {
  const messages = [
    { role: 'user', content: [] },
    { role: 'assistant', content: 'Hi', tool_calls: [] },
    { role: 'assistant', content: [] },
    { ...called('a'), content: [] },
    answered('a', []),
  ];
  for (const changes of [{}, openAi]) {
    assert.deepEqual(chatMessages(messages, changes), [
      { role: 'user', content: '' },
      { role: 'assistant', content: 'Hi' },
      { role: 'assistant', content: '' },
      called('a'),
      answered('a', ''),
    ]);
  }
});

test('fields that are null are left out, as clients return an answer with all fields of its type', () => {
  const chat = { temperature: null, tools: null, tool_choice: null, user: null };
  const tool = { name: 'f', description: null, strict: null };
  const parameters = { type: 'object', properties: {} };
  const answer = {
    role: 'assistant',
    content: null,
    refusal: null,
    audio: null,
    function_call: null,
  };
  const body = sent(straight('chat'), {
    ...chat,
    messages: [user, { ...answer, tool_calls: [chatCall('a')] }, answered('a')],
  }).body;
  assert.deepEqual(Object.keys(body).toSorted(), ['max_tokens', 'messages', 'model']);
  assert.deepEqual(body.messages, [user, called('a'), answered('a')]);
  const tools = [{ type: 'function', function: { ...tool, parameters } }];
  assert.deepEqual(sent(straight('chat'), { messages: [user], tools }).body.tools, [
    { type: 'function', function: { name: 'f', parameters } },
  ]);
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
  const result = { type: 'function_call_output', call_id: 'a', output: 'r' };
  const responses = sent(
    straight('responses'),
    {
      text: null,
      tools: [{ type: 'function', ...tool, parameters }],
      input: [user, { ...call, id: null, namespace: null }, { ...result, status: null }],
    },
    openAi,
  ).body;
  assert.ok(!Object.hasOwn(responses, 'text'));
  assert.deepEqual(responses.tools, [{ type: 'function', name: 'f', strict: null, parameters }]);
  assert.deepEqual(responses.input, [user, call, result]);
  const ran = { type: 'code_interpreter_call', id: 'ci_1', code: null, outputs: null };
  const { input } = sent(straight('responses'), { input: [user, ran] }, openAi).body;
  assert.deepEqual(input, [user, ran]);
  const messages = sent(straight('messages'), {
    messages: [user],
    tools: [{ name: 'f', description: null, input_schema: parameters }],
  }).body;
  assert.deepEqual(messages.tools, [{ name: 'f', input_schema: parameters }]);
});

test('a conversation without the user gets a message of the user for Qwen and GLM', () => {
  const system = { role: 'system', content: 'S' };
  const cut = [system, called('a'), answered('a')];
  const empty = { role: 'user', content: '(empty message)' };
  const qwen = { model: 'qwen3-vl' };
  assert.deepEqual(chatMessages(cut, qwen), [system, empty, called('a'), answered('a')]);
  assert.deepEqual(chatMessages(cut), cut);
  assert.deepEqual(chatMessages([system], qwen), [system]);
  const calls = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }],
  };
  const results = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }],
  };
  const way = { client: 'messages', upstream: 'chat' } as const;
  assert.deepEqual(sent(way, { messages: [calls, results] }, { model: 'glm-5.3' }).body.messages, [
    empty,
    called('a'),
    answered('a'),
  ]);
});

test('an empty answer in a history of Gemini is left out', () => {
  const said = (role: string, ...texts: string[]) => ({
    role,
    parts: texts.map((text) => ({ text })),
  });
  // Google's SDKs keep each chunk of a stream; the last one often says nothing.
  const answers = [said('model'), said('model', 'a'), said('model', '')];
  const contents = [said('user', 'x'), ...answers, said('user', 'y')];
  const kept = sent(straight('gemini'), { contents }).body.contents;
  assert.deepEqual(kept, [said('user', 'x'), said('model', 'a'), said('user', 'y')]);
  const nothing = [said('user')];
  assert.deepEqual(sent(straight('gemini'), { contents: nothing }).body.contents, nothing);
});

test('JSON mode is named in a message where the client names it nowhere, or in its instructions alone', () => {
  const json = { type: 'json_object' };
  const named = (value: unknown) => /JSON/.test(JSON.stringify(value));
  const unnamed = [user];
  const instructed = [{ role: 'system', content: 'Reply in JSON.' }, user];
  for (const messages of [unnamed, instructed]) {
    const body = { messages, response_format: json };
    const { input } = sent({ client: 'chat', upstream: 'responses' }, body, openAi).body;
    assert.ok(named(input), JSON.stringify(input));
  }
  const asked = {
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
    generationConfig: { responseMimeType: 'application/json' },
  };
  for (const upstream of ['chat', 'responses'] as const)
    assert.ok(named(sent({ client: 'gemini', upstream }, asked, openAi).body));
  // It is said once.
  const says = [{ role: 'user', content: 'As json, please.' }];
  const chat = sent(
    { client: 'chat', upstream: 'responses' },
    { messages: says, response_format: json },
  );
  assert.equal((chat.body.input as unknown[]).length, 1);
});

test('a later message that names JSON leaves the beginning of the conversation as it was', () => {
  const earlier = [user, { role: 'assistant', content: '{}' }];
  const later = [...earlier, { role: 'user', content: 'Still JSON, please.' }];
  const inputOf = (messages: readonly object[]) =>
    sent(
      { client: 'chat', upstream: 'responses' },
      { messages, response_format: { type: 'json_object' } },
      openAi,
    ).body.input as unknown[];
  assert.deepEqual(inputOf(later).slice(0, 2), inputOf([user]));
});

test('a schema beside json_object, as hosts take it, is the schema of the answer elsewhere', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const response_format = { type: 'json_object', schema };
  const { text } = sent(
    { client: 'chat', upstream: 'responses' },
    { messages: [user], response_format },
    openAi,
  ).body;
  assert.deepEqual((text as JsonObject).format, { type: 'json_schema', name: 'answer', schema });
});

test('an output format and a limit under Chat’s names are those of Responses', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } };
  const ways = [straight('responses'), { client: 'responses', upstream: 'chat' } as const];
  for (const way of ways) {
    const { body, ignored } = sent(way, { input: 'x', response_format, max_tokens: 9 }, openAi);
    assert.ok(JSON.stringify(body).includes('"name":"n"'), JSON.stringify(body));
    assert.deepEqual(ignored, []);
  }
  const parse = (fields: object) =>
    clientFormats.responses.parseRequest(
      { model: 'm', input: 'x', ...fields },
      { chatMaxTokens: null },
    );
  assert.equal(parse({ max_tokens: 9 }).maxOutputTokens, 9);
  assert.equal(parse({ max_completion_tokens: 8, max_tokens: 9 }).maxOutputTokens, 8);
  assert.equal(parse({ max_output_tokens: 7, max_tokens: 9 }).maxOutputTokens, 7);
  assert.equal(parse({ max_completion_tokens: null, max_tokens: 9 }).maxOutputTokens, 9);
  // What the own names say already is a field that nobody knows.
  const text = { format: { type: 'text' } };
  const twice = { text, response_format, max_output_tokens: 7, max_tokens: 9 };
  assert.deepEqual(parse(twice).body, { model: 'm', input: 'x', ...twice });
});

test('empty messages are left out, or say so, for Anthropic and OpenAI’s Responses', () => {
  const messages = [
    user,
    { role: 'assistant', content: [] },
    { role: 'assistant', content: ' ' },
    { role: 'user', content: '' },
    { role: 'user', content: [{ type: 'text', text: '' }] },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: [] },
  ];
  const empty = { role: 'user', content: [{ type: 'text', text: '(empty message)' }] };
  assert.deepEqual(sent(straight('messages'), { messages }).body.messages, [
    user,
    empty,
    { role: 'assistant', content: 'a' },
    empty,
  ]);
  assert.throws(
    () => sent(straight('messages'), { messages: [{ role: 'user', content: ' ' }] }),
    (error) => error instanceof ApiError && error.param === 'messages',
  );
  const input = [
    user,
    { type: 'message', role: 'assistant', content: [] },
    { ...user, content: [] },
  ];
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, [
    user,
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '' }] },
    { role: 'user', content: [{ type: 'input_text', text: '' }] },
  ]);
});

test('DeepSeek and Kimi get reasoning with every answer of Chat', () => {
  const messages = [
    user,
    called('a'),
    answered('a'),
    { role: 'assistant', content: 'b', reasoning_content: 'hm' },
    { role: 'assistant', content: 'c', reasoning_content: null, reasoning: 'so' },
  ];
  const reasoning = (model: string, changes: Partial<UpstreamTarget> = {}) =>
    chatMessages(messages, { model, ...changes })
      .filter(({ role }) => role === 'assistant')
      .map((message) => message.reasoning_content);
  assert.deepEqual(reasoning('deepseek-v4-pro'), ['', 'hm', 'so']);
  assert.deepEqual(reasoning('kimi-k3'), [' ', 'hm', 'so']);
  assert.deepEqual(reasoning('deepseek-v4-pro', { thinking: false }), [undefined, 'hm', undefined]);
  const refusedHistory = ['reasoning_content'];
  assert.deepEqual(reasoning('kimi-k3', { refusedHistory }), [undefined, undefined, undefined]);
});

test('Kimi gets its reasoning details without the place in the stream', () => {
  const details = [
    { index: 0, type: 'summary', summary: 'S' },
    { index: 1, type: 'encrypted', encrypted: 'ENC' },
    { index: 2, type: 'reasoning.text', text: 'OpenRouter’s' },
  ];
  const answer = { role: 'assistant', content: 'a', reasoning_content: 'S' };
  const messages = [user, { ...answer, reasoning_details: details }, user];
  assert.deepEqual(chatMessages(messages, { model: 'kimi-k3' })[1]!.reasoning_details, [
    { type: 'summary', summary: 'S' },
    { type: 'encrypted', encrypted: 'ENC' },
    details[2],
  ]);
  // Another vendor's model gets all but what Moonshot has encrypted.
  assert.deepEqual(chatMessages(messages)[1]!.reasoning_details, [details[0], details[2]]);
});

test('a vendor’s signature goes only to a model that is known to be the vendor’s', () => {
  const detail = (format: string) => ({
    type: 'reasoning.text',
    text: 't',
    signature: 's',
    format,
  });
  const anthropic = detail('anthropic-claude-v1');
  const google = detail('google-gemini-v1');
  const answer = { role: 'assistant', content: 'a', reasoning_details: [anthropic, google] };
  for (const [model, kept] of [
    ['anthropic/claude-sonnet-4.5', [anthropic]],
    ['google/gemini-3-pro', [google]],
    ['command-a', undefined],
    ['nova-pro', undefined],
    ['phi-5', undefined],
  ] as const) {
    const { body, ignored } = sent(straight('chat'), { messages: [user, answer] }, { model });
    assert.deepEqual((body.messages as JsonObject[])[1]!.reasoning_details, kept, model);
    assert.deepEqual(ignored, ['reasoning_details']);
  }
});

test('instructions in mid-conversation are text of the user where the model takes them only ahead', () => {
  const later = { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] };
  const messages = [{ role: 'system', content: 's' }, user, later];
  const marked = { role: 'user', content: '<system>\nBe brief.\n</system>' };
  for (const model of ['qwen3.6-max', 'MiniMax-M3'])
    assert.deepEqual(chatMessages(messages, { model }), [messages[0], user, marked]);
  assert.deepEqual(chatMessages(messages, { model: 'glm-5.3' })[2]!.role, 'system');
});

test('Mistral and Kimi get no empty answers, but the beginning of one', () => {
  const messages = [user, { role: 'assistant', content: null, refusal: null }, user];
  for (const model of ['mistral-large-latest', 'kimi-k3'])
    assert.deepEqual(chatMessages(messages, { model }), [user, user], model);
  const begun = [user, { role: 'assistant', content: '', partial: true }];
  assert.equal(chatMessages(begun, { model: 'kimi-k3' }).length, 2);
  assert.equal(chatMessages(messages, { model: 'glm-5.3' }).length, 3);
});

test('results of Gemini’s clients are read under each role that its SDKs write', () => {
  const turn = (role: string, part: object) => ({ role, parts: [part] });
  for (const role of ['user', 'function', 'tool']) {
    const contents = [
      turn('user', { text: 'x' }),
      turn('model', { functionCall: { name: 'f', args: {} } }),
      turn(role, { functionResponse: { name: 'f', response: { output: 'r' } } }),
    ];
    const { body } = sent({ client: 'gemini', upstream: 'chat' }, { contents });
    assert.equal((body.messages as JsonObject[]).at(-1)!.content, 'r', role);
  }
});

test('on Google’s straight path every turn is the user’s or the model’s, as Vertex wants it', () => {
  const parts = [{ text: 'x' }];
  const roles = [undefined, null, 'model', 'function', 'model', 'tool', 'system'];
  const contents = roles.map((role) => ({ role, parts }));
  const written = sent(straight('gemini'), { contents }).body.contents as JsonObject[];
  assert.deepEqual(
    written.map(({ role }) => role),
    ['user', 'user', 'model', 'user', 'model', 'user', 'system'],
  );
});

test('a verbosity is left out for OpenAI’s models that know none, on both straight paths', () => {
  for (const [model, taken] of [
    ['gpt-4.1', ['medium']],
    ['o3', ['medium']],
    ['gpt-5.2', ['low', 'medium']],
    ['my-deployment', ['low', 'medium']],
  ] as const)
    for (const verbosity of ['low', 'medium'] as const) {
      const isTaken = (taken as readonly string[]).includes(verbosity);
      const target = { model, isOpenAi: true };
      const chat = sent(straight('chat'), { messages: [user], verbosity }, target);
      assert.equal(chat.body.verbosity, isTaken ? verbosity : undefined, model);
      const text = { verbosity, format: { type: 'text' } };
      const { body, ignored } = sent(straight('responses'), { input: [user], text }, target);
      assert.deepEqual(body.text, isTaken ? text : { format: text.format });
      assert.deepEqual(
        [chat.ignored, ignored],
        isTaken ? [[], []] : [['verbosity'], ['text.verbosity']],
      );
    }
});

test('Mistral gets roles only in an order that it takes', () => {
  const system = { role: 'system', content: 'Be brief.' };
  const marked = { role: 'user', content: '<system>\nBe brief.\n</system>' };
  const ok = { role: 'assistant', content: 'OK.' };
  const messages = [user, called('abcdefghi'), answered('abcdefghi'), system, user];
  assert.deepEqual(chatMessages(messages, { model: 'mistral-large-latest' }), [
    user,
    called('abcdefghi'),
    answered('abcdefghi'),
    ok,
    marked,
    user,
  ]);
  assert.deepEqual(chatMessages(messages), messages);
});

const mark = { cache_control: { type: 'ephemeral' } };
const markedText = (text: string) => ({ type: 'text', text, ...mark });

test('Anthropic gets four cache marks: the last of the shared beginning and the latest others', () => {
  const body = {
    tools: [{ name: 't', input_schema: { type: 'object' }, ...mark }],
    system: [markedText('s'), markedText('s2')],
    messages: [
      { role: 'user', content: [markedText('1')] },
      {
        role: 'assistant',
        content: [markedText('2'), { type: 'tool_use', id: 'a', name: 't', input: {} }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [markedText('3')] },
          markedText('4'),
        ],
      },
    ],
  };
  const { body: written, ignored } = sent(straight('messages'), body);
  const text = JSON.stringify(written);
  assert.equal(text.split('cache_control').length - 1, 4);
  for (const kept of ['s2', '2', '3', '4'])
    assert.ok(text.includes(JSON.stringify(markedText(kept))), kept);
  assert.deepEqual(ignored, ['cache_control']);
  // A mark of the whole request takes a place.
  const whole = JSON.stringify(sent(straight('messages'), { ...body, ...mark }).body);
  assert.equal(whole.split('cache_control').length - 1, 4);
  const chat = [1, 2, 3, 4, 5].map((index) => ({
    role: index % 2 ? 'user' : 'assistant',
    content: [markedText(`${index}`)],
  }));
  const translated = sent({ client: 'chat', upstream: 'messages' }, { messages: chat });
  assert.equal(JSON.stringify(translated.body).split('cache_control').length - 1, 4);
  assert.deepEqual(translated.ignored, ['cache_control']);
  const four = { messages: chat.slice(1) };
  assert.deepEqual(sent({ client: 'chat', upstream: 'messages' }, four).ignored, []);
});

test('neighbouring answers of a Messages client are joined for Chat', () => {
  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '1' });
  const way: Way = { client: 'messages', upstream: 'chat' };
  const messages = [
    user,
    { role: 'assistant', content: [call('a')] },
    { role: 'assistant', content: [{ type: 'text', text: 'and' }, call('b')] },
    { role: 'user', content: [result('a'), result('b')] },
  ];
  assert.deepEqual(sent(way, { messages }).body.messages, [
    user,
    { ...called('a', 'b'), content: 'and' },
    answered('a', '1'),
    answered('b', '1'),
  ]);
  // Anthropic joins them itself.
  assert.deepEqual(sent(straight('messages'), { messages }).body.messages, messages);
});

const textOf = (text: string, fields: object = {}) => ({ type: 'text', text, ...fields });
const thought = { type: 'thinking', thinking: 'Hm', signature: 'anthropics' };
const searched = [
  { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 's',
    content: [{ type: 'web_search_result', url: 'https://x.test', title: 'X' }],
  },
];
const outputs = (...texts: string[]) =>
  texts.map((text) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  }));
const fromModel = (...texts: string[]) =>
  texts.map((text) => ({ role: 'model', parts: [{ text }] }));

/** The answers of a client's history, and the one text that Chat gets of them. */
const joined: [client: ClientFormatName, answers: readonly object[], text: string][] = [
  ['responses', outputs('I look.', 'Done.'), 'I look.\n\nDone.'],
  ['responses', outputs('I look.\n', 'Done.'), 'I look.\nDone.'],
  [
    'responses',
    [...outputs('I look.'), { type: 'reasoning', summary: [] }, ...outputs('Done.')],
    'I look.\n\nDone.',
  ],
  [
    'messages',
    ['I look.', 'Done.'].map((content) => ({ role: 'assistant', content })),
    'I look.\n\nDone.',
  ],
  [
    'messages',
    [{ role: 'assistant', content: [textOf('I look.'), thought, textOf('Done.')] }],
    'I look.\n\nDone.',
  ],
  [
    'messages',
    [{ role: 'assistant', content: [...searched, textOf('So.')] }],
    'I searched the web for: q\n\nThe search found:\n\nX\nhttps://x.test\n\nSo.',
  ],
  // One sentence, which was cut where its source begins; a stream, as Google's clients keep it.
  ['messages', [{ role: 'assistant', content: [textOf('Gr'), textOf('ass.')] }], 'Grass.'],
  ['gemini', fromModel('Gr', 'ass.'), 'Grass.'],
];

for (const [client, answers, text] of joined) {
  test(`answers of ${client} do not run together in Chat: ${JSON.stringify(text)}`, () => {
    const fields = {
      responses: { input: [user, ...answers, user] },
      messages: { messages: [user, ...answers, user] },
      gemini: { contents: [{ parts: [{ text: 'x' }] }, ...answers, { parts: [{ text: 'x' }] }] },
      chat: {},
    }[client];
    const messages = sent({ client, upstream: 'chat' }, fields).body.messages as JsonObject[];
    const said = messages.filter(({ role }) => role === 'assistant');
    assert.deepEqual(
      said.map(({ content }) => content),
      [text],
    );
  });
}

test('an answer that was cut off in its reasoning or a search ends before it, for Anthropic', () => {
  const hidden = { type: 'redacted_thinking', data: 'c2ln' };
  const [said, blank] = ['Hi', '\n'].map((value) => ({ type: 'text', text: value })) as [
    object,
    object,
  ];
  const use = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
  const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }],
  };
  const answer = (...content: object[]) => ({ role: 'assistant', content });
  const cases: [sent: object[], got: object[], listed?: string[]][] = [
    [[answer(thought), user], [user], ['thinking']],
    [[answer(said, thought, thought), user], [answer(said), user], ['thinking']],
    [[answer(thought)], [], ['thinking']],
    [
      [answer(thought, said), user],
      [answer(thought, said), user],
    ],
    [
      [answer(thought), answer(said), user],
      [answer(thought), answer(said), user],
    ],
    [
      [answer(said, thought, use('s')), user],
      [answer(said), user],
      ['messages.content.server_tool_use', 'thinking'],
    ],
    [
      [answer(use('s'), found, said), user],
      [answer(use('s'), found, said), user],
    ],
    // It goes on where it paused, or when the client's own call has its result.
    [[answer(use('s'))], [answer(use('s'))]],
    [
      [answer(use('s'), call), result],
      [answer(use('s'), call), result],
    ],
    // Nor does it take two signed thoughts in a row, which a blank text may have parted.
    [
      [answer(thought, blank, thought, call), result],
      [answer(thought, call), result],
      ['thinking'],
    ],
    [
      [answer(thought, hidden, said, thought, call), result],
      [answer(thought, hidden, said, thought, call), result],
    ],
  ];
  for (const [given, got, listed = []] of cases) {
    const { body, ignored } = sent(straight('messages'), { messages: [user, ...given] });
    assert.deepEqual([body.messages, [...ignored]], [[user, ...got], listed]);
  }
  assert.throws(
    () => sent(straight('messages'), { messages: [answer(thought)] }),
    /the conversation is empty/,
  );
  const reasoning = {
    type: 'reasoning',
    summary: [],
    encrypted_content: 'tg1.anthropic.{"value":"c2ln","text":"Hm."}',
  };
  const way = { client: 'responses', upstream: 'messages' } as const;
  const { body, ignored } = sent(way, { input: [user, reasoning, user] });
  const text = { type: 'text', text: 'x' };
  assert.deepEqual(body.messages, [{ role: 'user', content: [text, text] }]);
  assert.deepEqual([...ignored], ['thinking']);
  const twice = sent(way, {
    input: [user, reasoning, reasoning, { role: 'assistant', content: 'Hi' }, user],
  });
  const [, { content }] = twice.body.messages as [unknown, { content: { type: string }[] }];
  assert.deepEqual(
    content.map(({ type }) => type),
    ['thinking', 'text'],
  );
});
