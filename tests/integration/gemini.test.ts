// Gemini models for clients of every format, through the started program: the exact bytes sent to
// Google, the answer, and the charge. Models and prices come from the built-in catalogue.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { type Frame, Reply } from '../support/http.ts';
import { until } from '../support/until.ts';
import {
  answerInParts,
  answerJson,
  answerSse,
  answerStatus,
  type Script,
} from '../support/upstream.ts';

type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- bodies of four formats, read plainly

const model = 'gemini-3-flash-preview';
const paths = (name: string) => ({
  whole: `/v1beta/models/${name}:generateContent`,
  stream: `/v1beta/models/${name}:streamGenerateContent`,
});

type Client = {
  readonly name: string;
  readonly path: string;
  readonly ask: (fields?: Json) => Json;
  readonly withTool: Json;
  readonly withSchema: Json;
  readonly withReasoning: Json;
  /** The text and finish reason of a whole answer. */
  readonly read: (body: Json) => { readonly text: string; readonly stop: string };
  /** The whole answer of a stream. */
  readonly join: (frames: readonly Frame[]) => Json;
  /** The conversation, extended by the answer and the results of its calls. */
  readonly answered: (body: Json, results: readonly string[]) => Json;
};

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const question = { role: 'user', content: 'What is the weather?' };

const responses: Client = {
  name: 'responses',
  path: '/v1/responses',
  ask: (fields) => ({ input: [question], max_output_tokens: 2_000, ...fields }),
  withTool: {
    tools: [{ type: 'function', name: 'get_weather', parameters }],
    tool_choice: 'required',
  },
  withSchema: {
    text: { format: { type: 'json_schema', name: 'city', schema: parameters, strict: true } },
  },
  withReasoning: { reasoning: { effort: 'high' } },
  read: ({ output, status, incomplete_details: incomplete }) => {
    const messages = (output as Json[]).filter(({ type }) => type === 'message');
    return {
      text: messages.map(({ content }) => content[0].text).join(''),
      stop: incomplete?.reason ?? status,
    };
  },
  join: (frames) =>
    (frames.findLast(({ event }) => event?.startsWith('response.'))!.data as Json)['response'],
  answered: ({ output }, results) => {
    const calls = (output as Json[]).filter(({ type }) => type === 'function_call');
    const outputs = results.map((result, index) => ({
      type: 'function_call_output',
      call_id: calls[index]!['call_id'],
      output: result,
    }));
    return { input: [question, ...output, ...outputs] };
  },
};

const chat: Client = {
  name: 'chat',
  path: '/v1/chat/completions',
  ask: (fields) => ({ messages: [question], max_completion_tokens: 2_000, ...fields }),
  withTool: {
    tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    tool_choice: 'required',
  },
  withSchema: {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'city', schema: parameters, strict: true },
    },
  },
  withReasoning: { reasoning_effort: 'high' },
  read: ({ choices: [{ message, finish_reason: stop }] }) => ({
    text: message.content ?? '',
    stop,
  }),
  join: joinChunks,
  answered: ({ choices: [{ message }] }, results) => {
    const calls: Json[] = message.tool_calls ?? [];
    const tools = results.map((content, index) => ({
      role: 'tool',
      tool_call_id: calls[index]!['id'],
      content,
    }));
    return { messages: [question, message, ...tools, ...(tools.length === 0 ? [question] : [])] };
  },
};

const messages: Client = {
  name: 'messages',
  path: '/v1/messages',
  ask: (fields) => ({ messages: [question], max_tokens: 2_000, ...fields }),
  withTool: {
    tools: [{ name: 'get_weather', input_schema: parameters }],
    tool_choice: { type: 'any' },
  },
  withSchema: { output_config: { format: { type: 'json_schema', schema: parameters } } },
  withReasoning: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  read: ({ content, stop_reason: stop }) => ({
    text: (content as Json[]).map((block) => block['text'] ?? '').join(''),
    stop,
  }),
  join: joinBlocks,
  answered: ({ content }, results) => {
    const calls = (content as Json[]).filter(({ type }) => type === 'tool_use');
    const blocks = results.map((result, index) => ({
      type: 'tool_result',
      tool_use_id: calls[index]!['id'],
      content: result,
    }));
    return {
      messages: [
        question,
        { role: 'assistant', content },
        blocks.length === 0 ? question : { role: 'user', content: blocks },
      ],
    };
  },
};

function joinChunks(frames: readonly Frame[]): Json {
  const message: Json = {
    role: 'assistant',
    content: '',
    reasoning_content: '',
    reasoning_details: [],
    tool_calls: [],
  };
  let finish: string | null = null;
  for (const choice of frames.flatMap(({ data }): Json[] => (data as Json)['choices'] ?? [])) {
    const {
      content = '',
      reasoning_content: reasoning = '',
      reasoning_details: details = [],
      tool_calls: calls = [],
    } = choice['delta'];
    message['content'] += content;
    message['reasoning_content'] += reasoning;
    message['reasoning_details'].push(...details);
    for (const { index, ...call } of calls) {
      if (call.id) message['tool_calls'].push(call);
      else message['tool_calls'][index].function.arguments += call.function.arguments;
    }
    finish = choice['finish_reason'] ?? finish;
  }
  if (message['tool_calls'].length === 0) delete message['tool_calls'];
  return {
    choices: [{ message, finish_reason: finish }],
    usage: frames.map(({ data }) => (data as Json)['usage']).findLast(Boolean),
  };
}

function joinBlocks(frames: readonly Frame[]): Json {
  const content: Json[] = [];
  let last: Json = {};
  for (const { data } of frames) {
    const { type, index, content_block: block, delta, usage } = data as Json;
    if (type === 'content_block_start')
      content.push({ ...block, ...(block.type === 'tool_use' && { json: '' }) });
    if (type === 'content_block_delta') addDelta(content[index]!, delta);
    if (type === 'message_delta') last = { ...delta, usage };
  }
  for (const block of content.filter(({ type }) => type === 'tool_use')) {
    block['input'] = JSON.parse(block['json']);
    delete block['json'];
  }
  return { content, ...last };
}

function addDelta(block: Json, { text, thinking, signature, partial_json: json }: Json): void {
  if (text !== undefined) block['text'] += text;
  if (thinking !== undefined) block['thinking'] += thinking;
  if (signature !== undefined) block['signature'] = signature;
  if (json !== undefined) block['json'] += json;
}

const clients = [responses, chat, messages];

const gateway = await startGateway();
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

/** Plays the answers in turn, whole or with one chunk per part. */
function play(name: string, ...bodies: readonly Json[]): void {
  const [first, ...rest] = bodies.map((body): Script => (response, request) => {
    const parts: Json[] = body['candidates'][0].content.parts;
    const chunks = parts.map((part, index) => ({
      ...body,
      candidates: [
        {
          content: { parts: [part] },
          ...(index === parts.length - 1 && { finishReason: body['candidates'][0].finishReason }),
        },
      ],
    }));
    return (
      request.query === 'alt=sse' ? answerSse(chunks.map((data) => ({ data }))) : answerJson(body)
    )(response, request);
  });
  const { whole, stream } = paths(name);
  gateway.upstream.on(whole, first!, ...rest);
  gateway.upstream.on(stream, first!, ...rest);
}

const usageMetadata = {
  promptTokenCount: 1_500,
  cachedContentTokenCount: 500,
  candidatesTokenCount: 200,
  thoughtsTokenCount: 100,
};
/** 1 000 × $0.50, 500 × $0.05 and 300 × $3 a million. */
const costMicros = 1_425;

function answer(parts: readonly Json[], finishReason = 'STOP'): Json {
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason }],
    usageMetadata,
    responseId: 'kM3xaZresponse',
  };
}

async function post(
  client: Client,
  fields: Json,
): Promise<{ readonly reply: Reply; readonly body: Json }> {
  const reply = await gateway.post(client.path, { key, body: { model, ...client.ask(fields) } });
  assert.equal(reply.status, 200, reply.text);
  return { reply, body: fields['stream'] ? client.join(reply.frames) : reply.json<Json>() };
}

function lastRequest() {
  return gateway.upstream.requests.at(-1)! as {
    readonly path: string;
    readonly query: string;
    readonly headers: Json;
    readonly body: Json;
  };
}

for (const client of clients) {
  for (const stream of [false, true]) {
    const way = `${client.name}, ${stream ? 'streamed' : 'whole'}`;
    const ask = {
      stream,
      ...(stream && client === chat && { stream_options: { include_usage: true } }),
    };

    test(`${way}: a text is answered by Google and charged exactly`, async () => {
      play(model, answer([{ text: 'It rains' }, { text: ' in Köln.' }]));
      const { reply, body } = await post(client, ask);
      const { path, query, headers, body: sent } = lastRequest();
      const { stream: streamed, whole } = paths(model);
      assert.deepEqual([path, query], stream ? [streamed, 'alt=sse'] : [whole, '']);
      const { 'x-goog-api-key': googleKey, authorization } = headers;
      assert.deepEqual([googleKey, authorization], [upstreamKey, undefined]);
      assert.deepEqual(sent, {
        contents: [{ role: 'user', parts: [{ text: 'What is the weather?' }] }],
        generationConfig: { maxOutputTokens: 2_000 },
      });
      assert.equal(client.read(body).text, 'It rains in Köln.');
      assert.equal(reply.costMicros, costMicros);
      const records = await gateway.usage(key, reply.requestId);
      assert.equal(records.length, 1);
      assert.partialDeepStrictEqual(records[0], {
        model: 'Gemini 3 Flash Preview',
        input_tokens: 1_500,
        output_tokens: 300,
        cost_cents: 0.1425,
      });
      assertUsage(body['usage']);
    });

    test(`${way}: a tool loop returns thoughts, calls and signatures unchanged`, async () => {
      const parts = [
        { text: 'I should look.', thought: true },
        {
          functionCall: { name: 'get_weather', args: { city: 'Köln' } },
          thoughtSignature: 'U2lnbmF0dXJlK29mL2NhbGw9PQ==',
        },
        { functionCall: { name: 'get_weather', args: { city: 'Paris' } } },
      ];
      play(model, answer(parts), answer([{ text: 'Rain in both.' }]));
      const first = await post(client, { ...ask, ...client.withTool, ...client.withReasoning });
      const { tools, toolConfig, generationConfig } = lastRequest().body;
      assert.deepEqual(tools, [
        { functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: parameters }] },
      ]);
      assert.deepEqual(toolConfig, { functionCallingConfig: { mode: 'ANY' } });
      assert.deepEqual(generationConfig.thinkingConfig, {
        thinkingLevel: 'HIGH',
        includeThoughts: true,
      });
      assert.match(client.read(first.body).stop, /^(completed|tool_calls|tool_use)$/);

      const { tools: again } = client.withTool;
      const second = await post(client, {
        ...ask,
        tools: again,
        ...client.answered(first.body, ['rain', 'also rain']),
      });
      const ids = ['call_kM3xaZresponse_0', 'call_kM3xaZresponse_1'];
      assert.deepEqual(lastRequest().body['contents'], [
        { role: 'user', parts: [{ text: 'What is the weather?' }] },
        {
          role: 'model',
          parts: [
            parts[0],
            {
              functionCall: { id: ids[0], ...parts[1]!.functionCall },
              thoughtSignature: parts[1]!.thoughtSignature,
            },
            { functionCall: { id: ids[1], ...parts[2]!.functionCall } },
          ],
        },
        {
          role: 'user',
          parts: ['rain', 'also rain'].map((output, index) => ({
            functionResponse: { id: ids[index], name: 'get_weather', response: { output } },
          })),
        },
      ]);
      assert.equal(client.read(second.body).text, 'Rain in both.');
      assert.equal(second.reply.headers['x-service-ignored'], undefined);
    });

    test(`${way}: text signatures return with their texts, even an empty one`, async () => {
      const signed = [
        [{ text: 'Four.', thoughtSignature: 'dGV4dA==' }],
        [{ text: 'Four.' }, { text: '', thoughtSignature: 'ZW5k' }],
      ];
      for (const parts of signed) {
        play(model, answer(parts), answer([{ text: 'Yes.' }]));
        const first = await post(client, ask);
        const next = client.answered(first.body, []);
        if (client === responses) next['input'].push(question);
        await post(client, { ...ask, ...next });
        assert.deepEqual(lastRequest().body['contents'][1], { role: 'model', parts });
      }
    });

    test(`${way}: structured output is requested with its schema`, async () => {
      play(model, answer([{ text: '{"city":"Köln"}' }]));
      const { body } = await post(client, { ...ask, ...client.withSchema });
      assert.deepEqual(lastRequest().body['generationConfig'], {
        maxOutputTokens: 2_000,
        responseMimeType: 'application/json',
        responseJsonSchema: parameters,
      });
      assert.equal(client.read(body).text, '{"city":"Köln"}');
    });

    test(`${way}: a filtered or cut answer has that stop reason`, async () => {
      for (const [finishReason, expected] of [
        ['SAFETY', /^(content_filter|refusal)$/],
        ['MAX_TOKENS', /^(max_output_tokens|length|max_tokens)$/],
      ] as const) {
        const parts = [{ text: 'Half' }, { functionCall: { name: 'f', args: {} } }];
        play(model, answer(parts, finishReason));
        const { body } = await post(client, ask);
        assert.match(client.read(body).stop, expected);
      }
    });
  }

  test(`${client.name}: a stream that breaks off or contains an error ends with the format's error and is free`, async () => {
    const text = { candidates: [{ content: { parts: [{ text: 'Half' }] } }], usageMetadata };
    const error = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } };
    for (const chunks of [[text], [text, error], [text, badCall]]) {
      // An error with the first words still gets its own status.
      const frames = chunks.map((data) => ({ data }));
      const late = answerInParts(frames.slice(0, 1), frames.slice(1));
      gateway.upstream.on(paths(model).stream, late.script);
      const body = { model, ...client.ask({ stream: true }) };
      const stream = await gateway.open(client.path, { key, body }).response;
      await once(stream, 'readable');
      late.release();
      const reply = new Reply(stream, await readAll(stream));
      const last = reply.frames.at(-1)!.data as Json;
      assert.ok(last['error'] ?? last['response']?.error, reply.text);
      assert.deepEqual(await gateway.usage(key, reply.requestId), []);
    }
  });
}

function assertUsage(usage: Json): void {
  const input = usage['prompt_tokens'] ?? usage['input_tokens'];
  const output = usage['completion_tokens'] ?? usage['output_tokens'];
  // Only Messages counts cached tokens in addition to the input.
  assert.deepEqual(
    [input, output],
    [usage['cache_read_input_tokens'] === 500 ? 1_000 : 1_500, 300],
  );
}

const refuses = (error: object, status = 400) => answerStatus(status, { body: { error } });
const badSchema = { code: 400, message: 'Bad schema.', status: 'INVALID_ARGUMENT' };
const invalidKey = {
  ...badSchema,
  message: 'API key not valid. Please pass a valid API key.',
  details: [{ reason: 'API_KEY_INVALID' }],
};
const unbilled = { status: 'FAILED_PRECONDITION', message: 'Enable billing.' };
const overQuota = { code: 429, details: [{ retryDelay: '34.4s' }] };
const badRole = answerStatus(400, { body: [{ error: { code: 400, message: 'Bad role.' } }] });
const badCall = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] };
const broken = /^The model broke off its answer \(MALFORMED_FUNCTION_CALL\)/;
const [mine, theirs] = [/^Bad (schema|role)\.$/, /^The provider failed/];
const errors: [
  name: string,
  script: Script,
  status: number,
  code: string,
  message: RegExp,
  retryAfter?: string,
][] = [
  ["the caller's mistake", refuses(badSchema), 400, 'invalid_request', mine],
  ['one in a list', badRole, 400, 'invalid_request', mine],
  ['a refused key', refuses(invalidKey), 502, 'upstream_error', theirs],
  ['an account without billing', refuses(unbilled), 502, 'upstream_error', theirs],
  ['a quota', refuses(overQuota, 429), 503, 'upstream_unavailable', /overloaded/, '35'],
  ['a call that cannot be read', answerJson(badCall), 502, 'upstream_error', broken],
];

for (const [name, script, status, code, message, retryAfter] of errors) {
  test(`${name} is ${status} ${code} in every format, and free`, async () => {
    gateway.upstream.on(paths(model).whole, script);
    gateway.upstream.on(paths(model).stream, script);
    const earlier = await gateway.get('/v1/balance', { key });
    for (const client of clients) {
      const reply = await gateway.post(client.path, { key, body: { model, ...client.ask() } });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.error.code, code);
      assert.match(reply.error.message, message);
      assert.equal(reply.headers['retry-after'], retryAfter);
    }
    assert.equal((await gateway.get('/v1/balance', { key })).text, earlier.text);
  });
}

test('clients of Gemini’s format get Google’s word for a model that broke off, are charged what Google counts, and it is never cached', async () => {
  const ask = (stream: boolean) =>
    gateway.post(`/v1beta/models/${model}:${stream ? 'streamG' : 'g'}enerateContent?alt=sse`, {
      key,
      body: { contents: [{ parts: [{ text: 'Hi' }] }], generationConfig: { temperature: 0 } },
    });
  for (const finishReason of [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
  ])
    for (const stream of [false, true]) {
      const candidate = { content: { parts: [{ text: 'Half' }] }, finishReason };
      const said = { ...candidate, finishMessage: 'call: f(' };
      const body = { candidates: [said], usageMetadata };
      const script = stream ? answerSse([{ data: body }]) : answerJson(body);
      gateway.upstream.on(paths(model)[stream ? 'stream' : 'whole'], script);
      for (const time of ['first', 'second']) {
        const reply = await ask(stream);
        const where = `${finishReason}, ${time}: ${reply.text}`;
        assert.equal(reply.status, 200, where);
        const got = stream ? (reply.frames.at(-1)!.data as Json) : reply.json<Json>();
        assert.deepEqual(got['candidates'], [said], where);
        assert.equal(got['usageMetadata'].cost, costMicros / 1e6, where);
        assert.equal(reply.headers['x-service-cache'], undefined, where);
      }
    }
  // Without a count of Google's it is a failure, and so it is when another candidate has ended well.
  const good = { index: 1, content: { parts: [{ text: 'Yes' }] }, finishReason: 'STOP' };
  const [bad] = badCall.candidates;
  for (const candidates of [
    [bad],
    [bad, good],
    [
      { ...good, index: 0 },
      { ...bad, index: 1 },
    ],
  ]) {
    gateway.upstream.on(paths(model).whole, answerJson({ candidates }));
    const frames = candidates.map((one) => ({ data: { candidates: [one] } }));
    gateway.upstream.on(paths(model).stream, answerSse(frames));
    for (const stream of [false, true]) {
      const reply = await ask(stream);
      if (candidates.length === 1) assert.equal(reply.status, 502);
      assert.match(reply.text, /MALFORMED_FUNCTION_CALL/);
      assert.match(reply.text, /The model broke off its answer/);
      assert.deepEqual(await gateway.usage(key, reply.requestId), []);
    }
  }
});

test('a refused provider key alerts the operator, not the client', async () => {
  await until(() => /"provider":"google".*refuses its credential/.test(gateway.program.output));
});

function askChat(fields: Json): Promise<Reply> {
  return gateway.post(chat.path, { key, body: { model, ...chat.ask(fields) } });
}

test('fields that Gemini cannot express are refused by name, harmless ones are listed', async () => {
  const many = await askChat({ stop: ['a', 'b', 'c', 'd'], n: 2 });
  assert.deepEqual([many.status, many.error.param], [400, 'n']);
  play('gemini-3.6-flash', answer([{ text: 'x' }]));
  const fields = { temperature: 0.5, presence_penalty: 1, seed: 3, user: 'u' };
  const listed = await askChat({ ...fields, model: 'gemini-3.6-flash' });
  assert.deepEqual(lastRequest().body['generationConfig'], { maxOutputTokens: 2_000, seed: 3 });
  assert.deepEqual(
    new Set(String(listed.headers['x-service-ignored']).split(/, ?/)),
    new Set(['temperature', 'presence_penalty', 'user']),
  );
});

test('the built-in Gemini models are listed and run, and a long prompt uses its price tier', async () => {
  const { data } = (await gateway.get('/v1/models', { key })).json<{ data: Json[] }>();
  const listed = data
    .filter(({ type }) => type === 'model')
    .map(({ id }) => String(id))
    .filter((id) => id.startsWith('gemini-'));
  assert.ok(
    listed.includes('gemini-2.5-pro') && listed.includes('gemini-4-argon') && listed.length >= 11,
    listed.join(),
  );
  for (const id of listed) {
    const tokens = { input: 10, output: 10 };
    gateway.upstream.on(paths(id).whole, answerContent('gemini', { text: 'ok', tokens }));
    const reply = await askChat({ model: id });
    assert.equal(chat.read(reply.json<Json>()).text, 'ok', `${id}: ${reply.text}`);
  }
  gateway.upstream.on(
    paths('gemini-2.5-pro').whole,
    answerContent('gemini', { text: 'ok', tokens: { input: 200_001, output: 100 } }),
  );
  const prompt = [{ role: 'user', content: ' the'.repeat(150_000) }];
  const long = await askChat({ model: 'gemini-2.5-pro', messages: prompt });
  // $2.50 and $15 a million instead of $1.25 and $10.
  assert.equal(long.costMicros, Math.ceil(200_001 * 2.5 + 100 * 15));
});
