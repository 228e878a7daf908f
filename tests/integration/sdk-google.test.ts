// The official `@google/genai` against the started gateway: in test mode on models of four vendors, and
// with a live key through the local upstream, as Google's API and as Vertex.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, type Part } from '@google/genai';
import { answerContent, streamFrames } from '../support/answers.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { checkStream } from '../support/stream-rules.ts';
import { answerJson, answerSse } from '../support/upstream.ts';

const gateway = await startGateway({
  models: {
    'acme/gem': modelOf([{ provider: 'google', model: 'gemini-3.5-flash' }], {
      supports: { thinking: true },
      prices: { input: 1, output: 10, cache_read: 0.1 },
    }),
  },
});
after(() => gateway.stop());
const testKey = gateway.program.firstTestKey;
const sandbox = clientOf(testKey);
const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
const live = clientOf(key);

function clientOf(apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } });
}

const vendors = ['gpt-6-luna', 'claude-haiku-4-5', 'gemini-3.5-flash', 'deepseek-v4-pro'];
const look = {
  functionDeclarations: [
    {
      name: 'look',
      description: 'Looks at a city.',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ],
};
const google = '/v1beta/models/gemini-3.5-flash';
const path = (method: string) => `${google}:${method}`;

for (const model of vendors) {
  test(`${model}: whole and streamed, a text arrives with its usage`, async () => {
    const contents = 'Hello!';
    const whole = await sandbox.models.generateContent({ model, contents });
    assert.match(whole.text!, /^You said: Hello!/);
    assert.equal(whole.candidates![0]!.finishReason, 'STOP');
    assert.equal(whole.modelVersion, model);
    let text = '';
    let last;
    for await (const chunk of await sandbox.models.generateContentStream({ model, contents })) {
      text += chunk.text ?? '';
      last = chunk;
    }
    assert.equal(text, whole.text);
    assert.equal(
      last?.usageMetadata!.candidatesTokenCount,
      whole.usageMetadata!.candidatesTokenCount,
    );
  });

  test(`${model}: thinks, calls two tools in one turn, and answers their results`, async () => {
    const chat = sandbox.chats.create({
      model,
      config: { tools: [look], thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } },
    });
    const asked = await chat.sendMessage({
      message:
        'sandbox: think=Let me see.\nsandbox: tool=look {"city":"Oslo"}\nsandbox: tool=look {"city":"Rome"}',
    });
    const thoughts = asked.candidates![0]!.content!.parts!.filter(({ thought }) => thought);
    assert.equal(thoughts.map(({ text }) => text).join(''), 'Let me see.');
    assert.deepEqual(
      asked.functionCalls!.map(({ name, args }) => [name, args]),
      [
        ['look', { city: 'Oslo' }],
        ['look', { city: 'Rome' }],
      ],
    );
    const message: Part[] = asked.functionCalls!.map(({ id, name }) => ({
      functionResponse: { id: id!, name: name!, response: { output: 'Sunny.' } },
    }));
    const answered = await chat.sendMessage({ message });
    assert.match(answered.text!, /Sunny/);
  });
}

test('a chat knows its earlier turns when they were streamed, on a model of another vendor', async () => {
  const deltas = ['One', '\n\n', 'two.'].map((text) => ({
    event: 'content_block_delta',
    data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  }));
  const { start, end } = streamFrames('messages', { text: '', tokens: { input: 9, output: 3 } });
  gateway.upstream.on('/v1/messages', answerSse([...start, ...deltas, ...end]));
  const chat = live.chats.create({ model: 'claude-haiku-4-5' });
  for (const message of ['First.', 'Second.']) {
    await Array.fromAsync(await chat.sendMessageStream({ message }));
  }
  const { messages } = gateway.upstream.requests.at(-1)!.body as {
    messages: readonly { role: string; content: readonly { text: string }[] }[];
  };
  assert.deepEqual(
    messages.map(({ role, content }) => [role, ...content.map(({ text }) => text)]),
    [
      ['user', 'First.'],
      ['assistant', 'One\n\ntwo.'],
      ['user', 'Second.'],
    ],
  );
});

test('in test mode a directive runs code, whole and streamed, and the prompt read again is charged', async () => {
  const model = 'gemini-3.5-flash';
  const asked = {
    model,
    contents: 'sandbox: tool=code_execution print(1)\nHello!',
    config: { tools: [{ codeExecution: {} }] },
  };
  const whole = await sandbox.models.generateContent(asked);
  const chunks = await Array.fromAsync(await sandbox.models.generateContentStream(asked));
  const last = chunks.at(-1)!;
  assert.deepEqual(
    [whole.executableCode, whole.codeExecutionResult],
    ['print(1)', 'The sandbox runs no code.\n'],
  );
  assert.match(whole.text!, /^You said: Hello!/);
  const streamed = chunks.flatMap(({ candidates }) => candidates![0]!.content!.parts!);
  assert.equal(streamed.filter((part) => part.executableCode?.code === 'print(1)').length, 1);
  const { promptTokenCount: prompt, toolUsePromptTokenCount: again } = whole.usageMetadata!;
  assert.equal(again, prompt);
  const costs = [whole, last].map(
    ({ usageMetadata }) => (usageMetadata as unknown as { cost: number }).cost,
  );
  const plain = await sandbox.models.generateContent({ ...asked, contents: 'Hello!' });
  assert.equal(costs[0], costs[1]);
  assert.ok(costs[0]! > (plain.usageMetadata as unknown as { cost: number }).cost);
});

test('schemas in both dialects, a forced tool and instructions reach a model of another vendor', async () => {
  const { text } = await sandbox.models.generateContent({
    model: 'claude-haiku-4-5',
    contents: 'Hello!',
    config: {
      systemInstruction: 'Be brief.',
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT' as never,
        properties: { city: { type: 'STRING' as never, nullable: true } },
        required: ['city'],
      },
    },
  });
  assert.deepEqual(Object.keys(JSON.parse(text!) as object), ['city']);
  const forced = await sandbox.models.generateContent({
    model: 'gpt-6-luna',
    contents: 'Hello!',
    config: {
      tools: [look],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
    },
  });
  assert.equal(forced.functionCalls![0]!.name, 'look');
});

test('on Google’s host the body passes, but for the limit, the model and what is not sold', async () => {
  gateway.upstream.on(
    path('generateContent'),
    answerContent('gemini', { text: 'Hi', tokens: { input: 10, cacheRead: 5, output: 3 } }),
  );
  const body = {
    contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }],
    system_instruction: { parts: { text: 'Be brief.' } },
    tools: [{ googleSearch: {}, functionDeclarations: look.functionDeclarations }],
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    generationConfig: { temperature: 0.5, topK: 64, thinkingConfig: { include_thoughts: true } },
    labels: { team: 'blue' },
    invented: 1,
  };
  const reply = await ok(gateway.post('/v1beta/models/acme/gem:generateContent', { key, body }));
  const sent = gateway.upstream.requests.at(-1)!.body;
  assert.deepEqual(sent, {
    contents: body.contents,
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: look.functionDeclarations }],
    safetySettings: body.safetySettings,
    generationConfig: {
      temperature: 0.5,
      topK: 64,
      thinkingConfig: { includeThoughts: true },
      maxOutputTokens: 8_000,
    },
  });
  assert.equal(reply.headers['x-service-ignored'], 'tools[0].googleSearch, labels, invented');
  const answer = reply.json<{ modelVersion: string; usageMetadata: object }>();
  assert.equal(answer.modelVersion, 'acme/gem');
  // 10 at 1, 5 at 0.1 and 3 at 10 microdollars.
  assert.equal(reply.headers['x-service-cost-micros'], '41');
  assert.deepEqual(answer.usageMetadata, {
    promptTokenCount: 15,
    cachedContentTokenCount: 5,
    candidatesTokenCount: 3,
    totalTokenCount: 18,
    cost: 0.000041,
  });
});

test('a stream is an event stream with alt=sse and a JSON array without; its last chunk has the cost', async () => {
  gateway.upstream.on(
    path('streamGenerateContent'),
    answerContent('gemini', { text: 'One two three', tokens: { input: 10, output: 3 } }),
  );
  const body = { contents: [{ parts: [{ text: 'Hello!' }] }] };
  for (const model of ['acme/gem', 'acme%2Fgem']) {
    const url = `/v1beta/models/${model}:streamGenerateContent`;
    const events = await ok(gateway.post(`${url}?alt=sse&key=${key}`, { body }));
    assert.match(events.headers['content-type']!, /^text\/event-stream/);
    assert.equal(checkStream('gemini', events.text, { straight: true }).text, 'One two three');
    const array = await ok(gateway.post(url, { headers: { 'x-goog-api-key': key }, body }));
    assert.equal(array.headers['content-type'], 'application/json');
    const chunks = array.json<{ usageMetadata: { cost: number } }[]>();
    assert.equal(chunks.length, 4);
    assert.equal(chunks.at(-1)!.usageMetadata.cost, 0.00004);
  }
});

test('where Google counts nothing, our own count of the input is the same in every form', async () => {
  const answer = answerContent('gemini', { text: 'Hi', tokens: null });
  for (const method of ['generateContent', 'streamGenerateContent'])
    gateway.upstream.on(path(method), answer);
  const body = { contents: [{ parts: [{ text: 'Hello there!' }] }] };
  const costs = ['generateContent', 'streamGenerateContent', 'streamGenerateContent?alt=sse'].map(
    async (method) => {
      const reply = await ok(gateway.post(`/v1beta/models/acme/gem:${method}`, { key, body }));
      return (await gateway.usage(key, reply.requestId))[0]!.input_tokens;
    },
  );
  assert.equal(new Set(await Promise.all(costs)).size, 1);
});

test('a repeat with its Idempotency-Key is replayed in its form, free of charge', async () => {
  const body = { contents: [{ parts: [{ text: 'Hello!' }] }] };
  for (const method of [
    'generateContent',
    'streamGenerateContent',
    'streamGenerateContent?alt=sse',
  ]) {
    const headers = { 'idempotency-key': `once ${method}` };
    const url = `/v1beta/models/claude-haiku-4-5:${method}`;
    const [first, second] = [
      await ok(gateway.post(url, { key: testKey, headers, body })),
      await ok(gateway.post(url, { key: testKey, headers, body })),
    ];
    assert.equal(second.headers['x-service-cache'], 'idempotent-replay');
    assert.equal(second.headers['content-type'], first.headers['content-type']);
    const free = (text: string) => text.replace(/"cost":[\d.e-]+/, '"cost":0');
    assert.equal(second.text, free(first.text));
  }
});

test('signatures return through a conversation: Google’s unchanged, none of others to Google', async () => {
  const signed = (thoughtSignature: string) => ({
    functionCall: { id: 'c', name: 'look', args: {} },
    thoughtSignature,
  });
  const calls = (parts: readonly object[]) => [
    { role: 'user', parts: [{ text: 'Hello!' }] },
    { role: 'model', parts },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c', name: 'look', response: { output: 'x' } } }],
    },
  ];
  const foreign = Buffer.from('tg1.anthropic.{"value":"EqQB","text":"Hm."}').toString('base64');
  gateway.upstream.on(
    path('generateContent'),
    answerContent('gemini', { text: 'Hi', tokens: { input: 1, output: 1 } }),
  );
  for (const [given, sent] of [
    ['R29vZ2xl', 'R29vZ2xl'],
    [foreign, 'skip_thought_signature_validator'],
  ] as const) {
    const body = { contents: calls([{ text: 'Hm.', thought: true }, signed(given)]) };
    await ok(gateway.post('/v1beta/models/acme/gem:generateContent', { key, body }));
    const { contents } = gateway.upstream.requests.at(-1)!.body as {
      contents: { parts: Part[] }[];
    };
    assert.equal(contents[1]!.parts.at(-1)!.thoughtSignature, sent);
  }
  gateway.upstream.on(
    '/v1/messages',
    answerContent('messages', { text: 'Hi', tokens: { input: 1, output: 1 } }),
  );
  const body = {
    contents: calls([signed(foreign)]),
    generationConfig: { thinkingConfig: { thinkingBudget: 1_024 } },
    tools: [look],
  };
  await ok(gateway.post('/v1beta/models/claude-haiku-4-5:generateContent', { key, body }));
  const { messages } = gateway.upstream.requests.at(-1)!.body as {
    messages: { content: object[] }[];
  };
  assert.deepEqual(messages[1]!.content[0], {
    type: 'thinking',
    thinking: 'Hm.',
    signature: 'EqQB',
  });
});

test('counting, embeddings and the list of models', async () => {
  const counted = await sandbox.models.countTokens({ model: 'gpt-6-luna', contents: 'Hello!' });
  assert.ok(counted.totalTokens! > 0);
  const one = await sandbox.models.embedContent({
    model: 'gemini-embedding-001',
    contents: ['Hello!', 'Bye!'],
    config: { outputDimensionality: 768 },
  });
  assert.deepEqual(
    one.embeddings!.map(({ values }) => values!.length),
    [768, 768],
  );
  const single = await ok(
    gateway.post('/v1beta/models/gemini-embedding-001:embedContent', {
      key: testKey,
      // One object where a list stands, as Google takes it.
      body: { content: { parts: { text: 'Hello!' } }, task_type: 'RETRIEVAL_QUERY' },
    }),
  );
  const { embedding } = single.json<{ embedding: { values: number[] } }>();
  assert.equal(embedding.values.length, 3_072);
  const names: string[] = [];
  for await (const { name } of await sandbox.models.list({ config: { pageSize: 10 } }))
    names.push(name!);
  assert.ok(names.includes('models/gpt-6-luna') && names.length > 20, names.join());
  assert.equal(new Set(names).size, names.length);
  const model = await sandbox.models.get({ model: 'claude-haiku-4-5' });
  assert.deepEqual(
    [model.name, model.supportedActions],
    ['models/claude-haiku-4-5', ['generateContent', 'streamGenerateContent', 'countTokens']],
  );
});

test('the versions and Vertex’s paths answer alike; /v1/models stays the list of OpenAI’s clients', async () => {
  const body = { contents: [{ parts: [{ text: 'Hello!' }] }] };
  const model = 'models/gpt-6-luna:generateContent';
  for (const url of [
    `/v1/${model}`,
    `/v1alpha/${model}`,
    `/v1beta/${model.replace(':', '%3A')}`,
    `/v1beta1/publishers/google/${model}`,
    `/v1/projects/p/locations/global/publishers/google/${model}`,
    `/v1beta1/projects/p/locations/global/publishers/google/${model}`,
  ])
    assert.equal((await gateway.post(url, { key: testKey, body })).status, 200, url);
  const vertex = new GoogleGenAI({
    vertexai: true,
    apiKey: testKey,
    httpOptions: { baseUrl: gateway.url },
  });
  const { text } = await vertex.models.generateContent({ model: 'gpt-6-luna', contents: 'Hello!' });
  assert.match(text!, /^You said/);
  const listed = await ok(gateway.get('/v1/models', { key: testKey }));
  assert.ok('data' in listed.json<object>());
});

test('errors have Google’s form, on every path of its clients', async () => {
  const asked = (client: GoogleGenAI, model: string) =>
    client.models.generateContent({ model, contents: 'Hello!' });
  const refused = async (asking: Promise<unknown>) => {
    const error = await asking.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ApiError, String(error));
    return { status: error.status, ...(JSON.parse(error.message) as { error: object }) };
  };
  const unknown = await refused(asked(sandbox, 'gpt-nowhere'));
  assert.equal(unknown.status, 404);
  assert.partialDeepStrictEqual(unknown.error, {
    code: 404,
    status: 'NOT_FOUND',
    details: [{ reason: 'MODEL_NOT_FOUND' }],
  });
  assert.equal((await refused(asked(clientOf('tg_test_wrong'), 'gpt-6-luna'))).status, 401);
  const body = { contents: [] };
  const keyless = await gateway.post('/v1/models/gpt-6-luna:generateContent', { body });
  assert.deepEqual([keyless.status, keyless.error['status']], [401, 'UNAUTHENTICATED']);
  assert.match(keyless.error.message, /`x-goog-api-key: <key>`/);
  const poor = await newClient({ mode: 'live' });
  assert.partialDeepStrictEqual((await refused(asked(poor, 'gpt-6-luna'))).error, {
    code: 402,
    status: 'FAILED_PRECONDITION',
  });
  const capped = await newClient({ mode: 'live', creditUsd: 5, dailyCapMicros: 0 as never });
  const daily = (await refused(asked(capped, 'gpt-6-luna'))).error as { details: object[] };
  assert.ok(JSON.stringify(daily.details).includes('PerDay'));
  gateway.upstream.on(path('generateContent'), (response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
    response.end('{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}');
  });
  const busy = (await refused(asked(live, 'acme/gem'))).error as { details: object[] };
  assert.ok(JSON.stringify(busy.details).includes('"retryDelay":"7s"'), JSON.stringify(busy));
  for (const [method, url] of [
    ['POST', '/upload/v1beta/files'],
    ['POST', '/v1beta/cachedContents'],
    ['GET', '/v1beta/files/x'],
    ['POST', '/v1beta/models/gpt-6-luna:predictLongRunning'],
    ['POST', '/v1/projects/p/locations/l/cachedContents'],
  ] as const) {
    const reply = await gateway.get(url, { method, key: testKey });
    assert.equal(reply.status, 404, url);
    assert.equal((reply.error as unknown as { status: string }).status, 'NOT_FOUND', url);
  }
});

test('a failure in mid-stream ends it with one error that the SDK throws', async () => {
  const chunk = {
    candidates: [{ content: { parts: [{ text: 'One' }], role: 'model' }, index: 0 }],
  };
  gateway.upstream.on(
    path('streamGenerateContent'),
    answerSse(
      [
        { data: chunk },
        { data: { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } } },
      ],
      { paceMs: 30 },
    ),
  );
  const stream = await live.models.generateContentStream({ model: 'acme/gem', contents: 'Hello!' });
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, ApiError);
});

test('what a shared credential must not pass is refused by name, straight and translated', async () => {
  const ask = (fields: object) => ({ contents: [{ parts: [{ text: 'x' }] }], ...fields });
  const part = (one: object) => ask({ contents: [{ parts: [one] }] });
  for (const [body, field] of [
    [ask({ cachedContent: 'cachedContents/1' }), 'cachedContent'],
    [
      part({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } }),
      'contents[0].parts[0].fileData.fileUri',
    ],
    [part({ fileData: { fileUri: 'gs://bucket/x.pdf' } }), 'contents[0].parts[0].fileData.fileUri'],
    [
      part({ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }),
      'contents[0].parts[0].inlineData.mimeType',
    ],
    [
      ask({ generationConfig: { speechConfig: {}, responseModalities: ['AUDIO'] } }),
      'generationConfig.speechConfig',
    ],
    [ask({ generation_config: { max_output_tokens: 0 } }), 'generationConfig.maxOutputTokens'],
    [
      part({ text: 'a', mediaResolution: { numTokens: 100_000 } }),
      'contents[0].parts[0].mediaResolution.numTokens',
    ],
  ] as const) {
    for (const model of ['acme/gem', 'claude-haiku-4-5']) {
      const reply = await gateway.post(`/v1beta/models/${model}:generateContent`, { key, body });
      assert.equal(reply.status, 400, reply.text);
      const { details } = reply.error as unknown as { details: [{ metadata: { param: string } }] };
      assert.equal(details[0].metadata.param, field);
    }
  }
});

test('an image that Gemini draws in its answer arrives, and is charged', async () => {
  const data = 'iVBORw0KGgo=';
  gateway.upstream.on(
    path('generateContent'),
    answerJson({
      candidates: [
        {
          content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1_290, totalTokenCount: 1_300 },
    }),
  );
  const answer = await live.models.generateContent({ model: 'acme/gem', contents: 'Draw.' });
  assert.equal(answer.data, data);
  assert.equal((answer.usageMetadata as unknown as { cost: number }).cost, 0.01291);
});

test('a chat of the SDK keeps code that Google ran, and its signature, for the next turn', async () => {
  const parts = [
    { executableCode: { language: 'PYTHON', code: 'print(2)' }, thoughtSignature: 'Y29kZQ==' },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2\n' } },
    { text: 'Two.' },
  ];
  const data = {
    candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 25,
      candidatesTokenCount: 4,
      thoughtsTokenCount: 3,
    },
  };
  gateway.upstream.on(path('generateContent'), answerJson(data));
  gateway.upstream.on(path('streamGenerateContent'), answerSse([{ data }]));
  const chat = live.chats.create({
    model: 'acme/gem',
    config: { tools: [{ codeExecution: {} }, { urlContext: {} }] },
  });
  const whole = await chat.sendMessage({ message: 'Two?' });
  assert.deepEqual([whole.executableCode, whole.codeExecutionResult], ['print(2)', '2\n']);
  const chunks = await Array.fromAsync(await chat.sendMessageStream({ message: 'Again.' }));
  const last = chunks.at(-1)!;
  assert.deepEqual(last.candidates![0]!.content!.parts, parts);
  for (const { usageMetadata } of [whole, last]) {
    const { toolUsePromptTokenCount: read, cost } = usageMetadata as Record<string, unknown>;
    // 35 at 1 and 7 at 10 microdollars.
    assert.deepEqual([read, cost], [25, 0.000105]);
  }
  const { contents } = gateway.upstream.requests.at(-1)!.body as { contents: object[] };
  assert.deepEqual(contents[1], { parts, role: 'model' });
});

test('a prompt that is blocked before it runs is free, whole and streamed', async () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
  gateway.upstream.on(path('generateContent'), answerJson(blocked));
  gateway.upstream.on(path('streamGenerateContent'), answerSse([{ data: blocked }]));
  for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
    const body = { contents: [{ parts: [{ text: 'Hello!' }] }] };
    const reply = await ok(gateway.post(`/v1beta/models/acme/gem:${method}`, { key, body }));
    assert.match(reply.text, /SAFETY/);
    assert.equal(reply.costMicros, 0, method);
  }
});

test('an answer that Google would continue ends where it is, whole and streamed', async () => {
  const candidate = { content: { parts: [{ text: 'Once' }], role: 'model' }, index: 0 };
  const data = {
    candidates: [{ ...candidate, finishReason: 'CONTINUATION', continuationToken: 'more' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3 },
  };
  gateway.upstream.on(path('generateContent'), answerJson(data));
  gateway.upstream.on(path('streamGenerateContent'), answerSse([{ data }]));
  const asked = { model: 'acme/gem', contents: 'Tell.' };
  const whole = await live.models.generateContent(asked);
  const chunks = await Array.fromAsync(await live.models.generateContentStream(asked));
  for (const { text, candidates } of [whole, chunks.at(-1)!])
    assert.deepEqual([text, candidates![0]!.finishReason], ['Once', 'CONTINUATION']);
});

async function newClient(options: KeyOptions): Promise<GoogleGenAI> {
  return clientOf((await gateway.makeKey(options)).key);
}
