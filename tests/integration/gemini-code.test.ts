// Code that Google runs and pages that it fetches for a Gemini client: passed on the straight path,
// held for what the model may read of them, charged as Google counts them, and left out elsewhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { columnOf } from '../support/column-of.ts';
import { startGateway } from '../support/gateway.ts';
import { ok, type Reply } from '../support/http.ts';
import fc from '../support/property.ts';
import { flushEventLoop, TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerBytes, answerJson, answerStatus, framesText } from '../support/upstream.ts';

const contextTokens = 108_000;
const settings = {
  context_tokens: contextTokens,
  max_input_tokens: 100_000,
  max_output_tokens: 8_000,
  supports: { thinking: true },
  prices: { input: 1, output: 10 },
};
const clock = new TestClock();
const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      vertex: { kind: 'vertex', base_url: url, api_key: 'express-key-1234' },
      brave: { kind: 'brave', base_url: `${url}/brave`, api_key: 'k' },
    },
    models: {
      google: { ...settings, routes: [{ provider: 'google', model: 'gemini-m' }] },
      vertex: { ...settings, routes: [{ provider: 'vertex', model: 'gemini-m' }] },
      both: {
        ...settings,
        routes: ['local', 'google'].map((provider) => ({ provider, model: 'gemini-m' })),
      },
      elsewhere: { ...settings, routes: [{ provider: 'local', model: 'm' }] },
    },
  }),
  { clock },
);
after(() => gateway.stop());
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });

const hosts = {
  google: '/v1beta/models/gemini-m:',
  vertex: '/v1beta1/publishers/google/models/gemini-m:',
} as const;
const chat = '/local/v1/chat/completions';

const code = {
  executableCode: { language: 'PYTHON', code: 'print("Käse"*2)', id: 'c1' },
  thoughtSignature: 'Y29kZQ==',
};
const result = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'KäseKäse\n', id: 'c1' } };
const contents = [
  { role: 'user', parts: [{ text: 'Twice?' }] },
  { role: 'model', parts: [code, result, { text: 'KäseKäse.' }] },
  { role: 'user', parts: [{ text: 'Again, and https://a.example/' }] },
];
const tools = [{ codeExecution: {} }, { urlContext: {} }];

const pathOf = (model: string, method = 'generateContent') => `/v1beta/models/${model}:${method}`;
const send = (model: string, fields: object = {}) =>
  gateway.post(pathOf(model), { key, body: { contents, tools, ...fields } });
const lossOf = async ({ requestId }: Reply) =>
  (await gateway.lossesOf(requestId)).reduce((sum, one) => sum + one, 0);
const answerHi = () =>
  gateway.upstream.on(chat, answerContent('chat', { text: 'Hi', tokens: { input: 1, output: 1 } }));

const ending = {
  finishReason: 'STOP',
  index: 0,
  groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }] },
  urlContextMetadata: {
    urlMetadata: [
      { retrievedUrl: 'https://a.example/', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
    ],
  },
};
const usageMetadata = {
  promptTokenCount: 75,
  candidatesTokenCount: 414,
  thoughtsTokenCount: 117,
  toolUsePromptTokenCount: 573,
  toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 573 }],
  totalTokenCount: 1_179,
};
/** 75 and 573 at 1, 414 and 117 at 10 microdollars. */
const costMicros = 5_958;
const parts = [code, result, { text: 'KäseKäse, again.' }];
const whole = {
  candidates: [{ content: { parts, role: 'model' }, ...ending }],
  usageMetadata,
  modelVersion: 'gemini-m',
};
/** As Google streams them: the counts of the tools come last, and the others fall before. */
const chunks = [
  ...parts.map((part, index) => ({
    candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }],
    usageMetadata: { promptTokenCount: 46, candidatesTokenCount: 51 - 20 * index },
    modelVersion: 'gemini-m',
  })),
  { ...whole, candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, ...ending }] },
];
const frames = chunks.map((data) => ({ data }));

function play(host: keyof typeof hosts, sizes: readonly number[] = [7]): void {
  gateway.upstream.on(`${hosts[host]}generateContent`, answerJson(whole));
  const bytes = Buffer.from(framesText(frames));
  gateway.upstream.on(`${hosts[host]}streamGenerateContent`, answerBytes(bytes, { sizes }));
}

type Chunk = { readonly candidates: readonly object[]; readonly usageMetadata?: object };

for (const host of ['google', 'vertex'] as const)
  for (const method of [
    'generateContent',
    'streamGenerateContent?alt=sse',
    'streamGenerateContent',
  ])
    test(`${host}, ${method}: code, its results and fetched pages pass unchanged, and cost what Google counts`, async () => {
      const snake = [{ code_execution: {} }, { url_context: {} }];
      for (const [asked, sizes] of [
        [tools, [1]],
        [snake, [5, 64, 3]],
      ] as const) {
        play(host, sizes);
        const body = { contents, tools: asked };
        const reply = await ok(gateway.post(pathOf(host, method), { key, body }));
        const sent = gateway.upstream.requests.at(-1)!.body as Record<string, unknown>;
        assert.deepEqual([sent['contents'], sent['tools']], [contents, tools]);
        assert.equal(reply.headers['x-service-ignored'], undefined);
        const got: readonly Chunk[] = method.includes('alt=sse')
          ? reply.frames.map(({ data }) => data as Chunk)
          : [reply.json<Chunk | Chunk[]>()].flat();
        const expected = method === 'generateContent' ? [whole] : chunks;
        const shown = (list: readonly Chunk[]) => JSON.stringify(list.map((one) => one.candidates));
        assert.equal(shown(got), shown(expected));
        assert.deepEqual(got.at(-1)!.usageMetadata, { ...usageMetadata, cost: costMicros / 1e6 });
        const [record] = await gateway.usage(key, reply.requestId);
        assert.partialDeepStrictEqual(record, { input_tokens: 648, output_tokens: 531 });
        assert.equal(record!.cost_cents, costMicros / 1e4);
      }
    });

test('any count of what the tools read is charged as input, up to six times the context for each answer', async () => {
  const count = fc.nat(1_600_000);
  await fc.assert(
    fc.asyncProperty(
      count,
      fc.nat(1_000),
      fc.nat(1_000),
      fc.constantFrom(1, 2),
      async (read, prompt, output, candidateCount) => {
        const counts = {
          promptTokenCount: prompt + 1,
          candidatesTokenCount: output + 1,
          toolUsePromptTokenCount: read,
        };
        const answer = answerJson({ ...whole, usageMetadata: counts });
        gateway.upstream.on(`${hosts.google}generateContent`, answer);
        const reply = await ok(send('google', { generationConfig: { candidateCount } }));
        const input = Math.min(prompt + 1 + read, 6 * contextTokens * candidateCount);
        const { cost } = reply.json<{ usageMetadata: { cost: number } }>().usageMetadata;
        assert.equal(Math.round(cost * 1e6), input + 10 * (output + 1));
        assert.equal(await lossOf(reply), prompt + 1 + read - input);
      },
    ),
    {
      numRuns: 20,
      examples: [
        [0, 0, 0, 1],
        [6 * contextTokens - 1, 0, 0, 1],
        [12 * contextTokens, 0, 0, 2],
      ],
    },
  );
});

test('the hold covers, for each answer, the prompt read again and a whole context, for each tool alike', async () => {
  const heldFor = async (asked: readonly object[], method: string, candidateCount = 1) => {
    let held = 0;
    const stream = answerBytes(Buffer.from(framesText(frames)));
    for (const name of ['generateContent', 'streamGenerateContent'])
      gateway.upstream.on(hosts.google + name, async (response, request) => {
        held = (await gateway.balance(account)).heldMicros;
        await (name === 'generateContent' ? answerJson(whole) : stream)(response, request);
      });
    const generationConfig = { maxOutputTokens: 8_000, candidateCount };
    const body = { contents, tools: asked, generationConfig };
    await ok(gateway.post(pathOf('google', method), { key, body }));
    return held;
  };
  const plain = await heldFor([{ functionDeclarations: [{ name: 'f' }] }], 'generateContent');
  for (const method of ['generateContent', 'streamGenerateContent'])
    for (const tool of tools) {
      const held = await heldFor([tool], method);
      // Four rounds that grow by 10,000 tokens, and one that fills the context; a stream in full.
      const more = held - plain - (contextTokens + 100_000);
      assert.ok(more > 0 && more < 2_000, `${Object.keys(tool)[0]}, ${method}: ${held}, ${plain}`);
      const ofTwo = await heldFor([tool], method, 2);
      assert.ok(Math.abs(ofTwo - 2 * held) < 1_000, `two answers: ${ofTwo}, one: ${held}`);
    }
});

test('a balance without room for them is a 402 that names them, if they run', async () => {
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.2 });
  play('google');
  const path = pathOf('google');
  const body = { contents, tools, generationConfig: { maxOutputTokens: 10 } };
  const refused = await gateway.post(path, { key: poor.key, body });
  assert.equal(refused.status, 402, refused.text);
  assert.match(refused.error.message, /reads of code and pages, up to its whole context/);
  await ok(gateway.post(path, { key: poor.key, body: { ...body, tools: [] } }));
  // A conversation that is repaired is translated, without them.
  const call = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
  const unanswered = { ...body, contents: [contents[0], call, contents[2]] };
  const reply = await ok(gateway.post(path, { key: poor.key, body: unanswered }));
  assert.match(String(reply.headers['x-service-ignored']), /tools\[0\]\.codeExecution/);
});

test('a client that leaves a stream with code pays for all that its end counts', async () => {
  const { key: own, account: leaver } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const called = Promise.withResolvers<ServerResponse>();
  gateway.upstream.on(`${hosts.google}streamGenerateContent`, (answer) => called.resolve(answer));
  const path = pathOf('google', 'streamGenerateContent?alt=sse');
  const { request, response } = gateway.open(path, { key: own, body: { contents, tools } });
  const answer = await called.promise;
  answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(framesText([frames[0]!]));
  await once(await response, 'data');
  request.destroy();
  await once(request, 'close');
  // The model writes for longer than it is read on for other clients that have left.
  for (let step = 0; step < 20; step++) {
    answer.write(framesText([frames[2]!]));
    await flushEventLoop();
    await clock.advance(500);
  }
  answer.end(framesText(frames.slice(3)));
  await until(async () => (await gateway.balance(leaver)).heldMicros === 0);
  const { availableMicros } = await gateway.balance(leaver);
  assert.equal(5_000_000 - availableMicros, costMicros);
});

test('a route that runs them goes first, and no other stands in for it', async () => {
  answerHi();
  play('google');
  const ask = (asked: readonly object[]) => send('both', { tools: asked });
  assert.match((await ok(ask(tools))).text, /executableCode/);
  gateway.upstream.on(`${hosts.google}generateContent`, answerStatus(503));
  const calls = gateway.upstream.requests.length;
  assert.equal((await ask(tools)).status, 503);
  const paths = columnOf(gateway.upstream.requests.slice(calls), 'path');
  assert.deepEqual(paths, [`${hosts.google}generateContent`]);
  await ok(ask([]));
});

test('elsewhere they are left out and listed, and the code of the history is text', async () => {
  answerHi();
  const reply = await ok(send('elsewhere'));
  const ignored = String(reply.headers['x-service-ignored']);
  assert.match(ignored, /^tools\[0\]\.codeExecution, tools\[1\]\.urlContext\b/);
  const { messages, tools: sent } = gateway.upstream.requests.at(-1)!.body as {
    messages: { content: string }[];
    tools?: unknown;
  };
  assert.equal(sent, undefined);
  const text = '\n```python\nprint("Käse"*2)\n```\n\n```\nKäseKäse\n```\nKäseKäse.';
  assert.equal(messages[1]!.content, text);
});

test('calls of Google’s tools are shown by the Gemini API alone; elsewhere they are left out and listed', async () => {
  const call = {
    toolCall: { id: 's1', toolType: 'URL_CONTEXT', args: { urls: ['https://a.example/'] } },
    thoughtSignature: 'Y2FsbA==',
  };
  const shown = { toolResponse: { id: 's1', toolType: 'URL_CONTEXT', response: { text: 'Käse' } } };
  const turns = [
    contents[0],
    { role: 'model', parts: [call, shown] },
    { role: 'user', parts: [{ text: 'And?' }] },
    { role: 'model', parts: [call, shown, { text: 'Käse.' }] },
    contents[2],
  ];
  const told = [contents[0], turns[2], { role: 'model', parts: [{ text: 'Käse.' }] }, contents[2]];
  const functionCallingConfig = { mode: 'AUTO' };
  const toolConfig = { functionCallingConfig, includeServerSideToolInvocations: true };
  const body = {
    contents: turns,
    tool_config: {
      function_calling_config: { mode: 'AUTO', stream_function_call_arguments: true },
      include_server_side_tool_invocations: true,
    },
  };
  const answer = {
    ...whole,
    candidates: [{ content: { parts: [call, shown, ...parts], role: 'model' }, ...ending }],
  };
  for (const name of Object.values(hosts))
    gateway.upstream.on(`${name}generateContent`, answerJson(answer));
  answerHi();
  const listed =
    'contents.parts.toolCall, contents.parts.toolResponse, toolConfig.functionCallingConfig.streamFunctionCallArguments, toolConfig.includeServerSideToolInvocations';
  for (const [host, sent, ignored] of [
    ['google', { contents: turns, toolConfig }, listed.split(', ')[2]],
    ['vertex', { contents: told, toolConfig: { functionCallingConfig } }, listed],
    ['elsewhere', null, listed],
  ] as const) {
    const reply = await ok(gateway.post(pathOf(host), { key, body }));
    const names = String(reply.headers['x-service-ignored']).split(', ').toSorted().join(', ');
    assert.equal(names, ignored, host);
    const got = gateway.upstream.requests.at(-1)!.body as Record<string, unknown>;
    if (!sent) {
      const texts = columnOf(got['messages'] as { content: string }[], 'content');
      assert.deepEqual(texts.slice(2), ['Käse.', 'Again, and https://a.example/']);
      assert.ok(!JSON.stringify(got).includes('URL_CONTEXT'));
      continue;
    }
    assert.deepEqual([got['contents'], got['toolConfig']], [sent.contents, sent.toolConfig]);
    assert.deepEqual(reply.json<typeof answer>().candidates, answer.candidates);
  }
  const bad = { toolConfig: { includeServerSideToolInvocations: 'yes' }, tools: undefined };
  const refused = await send('google', bad);
  assert.equal(refused.status, 400);
  assert.match(refused.error.message, /^toolConfig\.includeServerSideToolInvocations /);
});

test('beside a search that the gateway runs, code is left out and listed', async () => {
  play('google');
  const reply = await ok(send('google', { tools: [{ googleSearch: {} }, { codeExecution: {} }] }));
  assert.match(String(reply.headers['x-service-ignored']), /^tools\[\d\]\.codeExecution$/);
  const { tools: sent } = gateway.upstream.requests.at(-1)!.body as { tools: object[] };
  assert.deepEqual(sent.flatMap(Object.keys), ['functionDeclarations']);
});

test('a tool that is no object is a 400 that names it, and none of it reaches the host', async () => {
  play('google');
  const calls = gateway.upstream.requests.length;
  const before = await gateway.balance(account);
  for (const name of ['codeExecution', 'code_execution', 'urlContext'])
    for (const value of [true, false, 7, '', 'x', [], [{}]]) {
      const refused = await send('google', { tools: [{}, { [name]: value }] });
      assert.equal(refused.status, 400, `${name}: ${JSON.stringify(value)}: ${refused.text}`);
      const words = /^tools\[1\]\.(codeExecution|urlContext) must be an object/;
      assert.match(refused.error.message, words);
    }
  assert.equal(gateway.upstream.requests.length, calls);
  assert.deepEqual(await gateway.balance(account), before);
});

const success = 'URL_RETRIEVAL_STATUS_SUCCESS';

test('when a stream breaks off after code or pages, what was read for them is lost, too', async () => {
  const text = 'the '.repeat(4_000);
  const lost = async (shown: readonly object[], fetched?: object, counts?: object) => {
    const cut = shown.map((part) => ({
      data: {
        candidates: [{ content: { parts: [part], role: 'model' }, index: 0, ...fetched }],
        usageMetadata: { promptTokenCount: 4_000, candidatesTokenCount: 20, ...counts },
      },
    }));
    const bytes = Buffer.from(framesText(cut));
    gateway.upstream.on(`${hosts.google}streamGenerateContent`, answerBytes(bytes));
    const path = pathOf('google', 'streamGenerateContent?alt=sse');
    const body = { contents: [{ role: 'user', parts: [{ text }] }], tools };
    return lossOf(await gateway.post(path, { key, body }));
  };
  const first = { text: 'Let me see.' };
  const unrun = await lost([first]);
  for (const runs of [1, 2]) {
    const ran = Array.from({ length: runs }, () => [code, result]).flat();
    const more = (await lost([first, ...ran])) - unrun;
    assert.ok(Math.abs(more / (4_000 * runs) - 1) < 0.1, `${runs} runs: ${more} beyond ${unrun}`);
  }
  const page = { retrievedUrl: 'https://a.example/', urlRetrievalStatus: success };
  const failed = { retrievedUrl: 'https://c.example/', urlRetrievalStatus: `${success}_NOT` };
  const other = { ...page, retrievedUrl: 'https://b.example/' };
  for (const [urlMetadata, more, counts] of [
    [[page, failed], 4_000 + 3_000],
    // Chunks repeat them, and they are read together.
    [[page, other, page], 4_000 + 2 * 3_000],
    [[failed], 0],
    // Google's own count goes before.
    [[page, other], 1_500, { toolUsePromptTokenCount: 1_500 }],
  ] as const) {
    const fetched = { urlContextMetadata: { urlMetadata } };
    const beyond = (await lost([first, first], fetched, counts)) - (await lost([first, first]));
    assert.ok(Math.abs(beyond - more) < 500, `${JSON.stringify(urlMetadata)}: ${beyond}`);
  }
});
