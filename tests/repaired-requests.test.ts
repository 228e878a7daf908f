// What clients send and vendors refuse is repaired before it is sent, on the straight path as in
// translation. Each case was reported for another gateway or an agent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName, UpstreamFormatName } from '../src/terms/format-name.ts';
import { ApiError } from '../src/canonical/errors.ts';
import type { UpstreamTarget } from '../src/formats/format.ts';
import { clientFormats } from '../src/formats/registry.ts';
import type { JsonObject } from '../src/lib/json.ts';
import { asGemini } from './support/as-gemini.ts';
import { writtenRequest } from './support/written-request.ts';

type Way = { readonly client: ClientFormatName; readonly upstream: UpstreamFormatName };

const straight = (name: ClientFormatName): Way => ({ client: name, upstream: name });
const openAi = { model: 'gpt-5.4', isOpenAi: true } as const;

/** As it is sent: without undefined fields. */
function sent(way: Way, body: object, changes: Partial<UpstreamTarget> = {}) {
  const needed = way.client === 'messages' ? { model: 'm', max_tokens: 99 } : { model: 'm' };
  const written = writtenRequest(way, { ...needed, ...body }, changes);
  return { body: JSON.parse(JSON.stringify(written.body)) as JsonObject, ignored: written.ignored };
}

const chatMessages = (messages: readonly object[], changes: Partial<UpstreamTarget> = {}) =>
  sent(straight('chat'), { messages }, changes).body.messages as JsonObject[];

const user = { role: 'user', content: 'x' };
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pngUrl = `data:image/png;base64,${png}`;
const chatCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
});
const called = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(chatCall),
});
const answered = (id: string, content: unknown = 'r') => ({
  role: 'tool',
  tool_call_id: id,
  content,
});

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

const madeCall = (text: string) => ({ ...chatCall('a'), function: { name: 'f', arguments: text } });

test('an earlier call of Chat has an object as its arguments at hosts that parse them', () => {
  const wrapped = (text: string) => JSON.stringify({ invalid_json_arguments: text });
  // Of an answer that its limit cut off, and of hosts that write no arguments in words.
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
  // Those in a text count too.
  const inText = JSON.stringify(half);
  const [first, second] = argumentsIn(half, inText);
  assert.ok(first === half && second === JSON.stringify({ invalid_json_arguments: inText }));
});

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

test('a PDF in the place of an image is sent as a document, an address alone as an image', () => {
  const pdf = 'data:application/pdf;base64,JVBERi0=';
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  const document = { type: 'document', source };
  const inChat = { type: 'image_url', image_url: { url: pdf } };
  const inResponses = { type: 'input_image', image_url: pdf };
  const asked = [
    [{ client: 'chat', upstream: 'messages' }, { messages: [{ role: 'user', content: [inChat] }] }],
    [
      { client: 'responses', upstream: 'messages' },
      { input: [{ role: 'user', content: [inResponses] }] },
    ],
  ] as const;
  for (const [way, body] of asked)
    assert.deepEqual(sent(way, body).body.messages, [{ role: 'user', content: [document] }]);
  const bare = [{ role: 'user', content: [{ type: 'image_url', image_url: pngUrl }] }];
  assert.deepEqual(chatMessages(bare), [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: pngUrl } }] },
  ]);
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

test('images of Chat’s tool messages follow in a user message, after all results of the turn', () => {
  const image = { type: 'image_url', image_url: { url: pngUrl } };
  const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } };
  const messages = [
    user,
    called('a', 'b'),
    answered('a', [{ type: 'text', text: 'shot' }, image]),
    answered('b', [file]),
    user,
  ];
  const note = '[The attachments of this result follow in the next user message.]';
  const label = (id: string) => ({
    type: 'text',
    text: `[Attachments of the result of tool call ${id}]`,
  });
  assert.deepEqual(chatMessages(messages, openAi), [
    user,
    called('a', 'b'),
    answered('a', `shot\n${note}`),
    answered('b', note),
    { role: 'user', content: [label('a'), image, label('b'), file] },
    user,
  ]);
});

test('Chat hosts get `high` for the image detail `original`, in messages and in results', () => {
  const image = { type: 'input_image', image_url: pngUrl, detail: 'original' };
  const input = [
    { role: 'user', content: [image] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [image] },
  ];
  const chatImage = { type: 'image_url', image_url: { url: pngUrl, detail: 'original' } };
  const messages = [
    { role: 'user', content: [chatImage] },
    called('a'),
    answered('a', [chatImage]),
  ];
  for (const changes of [{}, openAi]) {
    const translated = sent({ client: 'responses', upstream: 'chat' }, { input }, changes).body;
    const relayed = sent(straight('chat'), { messages }, changes).body;
    for (const { messages: written } of [translated, relayed]) {
      assert.deepEqual(JSON.stringify(written).match(/"detail":"\w+"/g), [
        '"detail":"high"',
        '"detail":"high"',
      ]);
    }
  }
  assert.deepEqual(sent(straight('responses'), { input }, openAi).body.input, input);
});

const bytes = {
  'image/png': png,
  'image/jpeg': '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMC',
  'image/gif': 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'image/webp': 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
};
const pdf = Buffer.from('%PDF-1.7\n%âãÏÓ\n', 'latin1').toString('base64');

/** Where the wrong type and the base64 with white space stand in each client's request. */
type Media = Record<ClientFormatName, (type: string, data: string, isFile: boolean) => JsonObject>;
const media: Media = {
  gemini: (type, data, isFile): JsonObject => asGemini(media.messages(type, data, isFile)),
  chat: (type, data, isFile) => {
    const url = `data:${type};base64,${data}`;
    const part = isFile
      ? { type: 'file', file: { filename: 'a', file_data: url } }
      : { type: 'image_url', image_url: { url } };
    return { messages: [{ role: 'user', content: [part] }] };
  },
  responses: (type, data, isFile) => {
    const url = `data:${type};base64,${data}`;
    const part = isFile
      ? { type: 'input_file', filename: 'a', file_data: url }
      : { type: 'input_image', image_url: url };
    const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
    const result = { type: 'function_call_output', call_id: 'a', output: [part] };
    return { input: [{ role: 'user', content: [part] }, call, result] };
  },
  messages: (type, data, isFile) => {
    const source = { type: 'base64', media_type: type, data };
    const part = { type: isFile ? 'document' : 'image', source };
    const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'a', content: [part] };
    return {
      messages: [
        { role: 'user', content: [part] },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    };
  },
};
const clients = Object.keys(media) as ClientFormatName[];
const upstreams: readonly UpstreamFormatName[] = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'converse',
];

for (const client of clients) {
  for (const upstream of upstreams) {
    test(`${client} on ${upstream}: the type of an image or PDF is what its bytes say, without white space in the base64`, () => {
      const check = (type: string, data: string, wrong: string, isFile: boolean) => {
        const broken = `${data.slice(0, 20)}\r\n ${data.slice(20)}\n`;
        const { body } = sent({ client, upstream }, media[client](wrong, broken, isFile));
        const text = JSON.stringify(body);
        // Converse names the format instead of the type.
        const shown = upstream === 'converse' ? `"format":"${type.split('/')[1]}"` : type;
        assert.ok(text.includes(shown) && text.includes(data), text);
        assert.ok(!text.includes(wrong) && !text.includes('\\n'), text);
      };
      for (const [type, data] of Object.entries(bytes))
        check(type, data, type === 'image/png' ? 'image/jpeg' : 'image/png', false);
      check('application/pdf', pdf, 'application/octet-stream', true);
    });
  }

  test(`${client}: media of the right type keep their bytes`, () => {
    for (const [type, data, isFile] of [
      ['image/png', png, false],
      ['image/heic', 'AAAAGGZ0eXBoZWlj', false],
      ['application/pdf', pdf, true],
      ['text/plain', pdf, true],
      // The hold for an image would not cover it.
      ['application/octet-stream', pdf, false],
    ] as const) {
      const body = media[client](type, data, isFile);
      // Gemini tells images from documents by their type alone.
      if (client === 'gemini' && type === 'application/octet-stream') continue;
      const field =
        client === 'gemini' ? 'contents' : client === 'responses' ? 'input' : 'messages';
      // Later Gemini models want signatures.
      const written = sent(straight(client), body, { model: 'gemini-2.5-flash' }).body;
      assert.equal(JSON.stringify(written[field]), JSON.stringify(body[field]));
    }
  });
}

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

test('a tool of Google’s own at the Chat address is left out and listed', () => {
  const tools = [{ googleSearch: {} }, { type: 'function', function: { name: 'f' } }];
  for (const upstream of ['chat', 'messages'] as const) {
    const { body } = sent({ client: 'chat', upstream }, { messages: [user], tools });
    assert.equal((body.tools as unknown[]).length, 1);
  }
  const alone = sent(straight('chat'), { messages: [user], tools: tools.slice(0, 1) });
  assert.deepEqual([alone.body.tools, alone.ignored], [undefined, ['tools[0]']]);
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

test('an answer that was cut off in its reasoning or a search ends before it, for Anthropic', () => {
  const said = { type: 'text', text: 'Hi' };
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
