// Conversations are compacted on every model: by OpenAI itself, elsewhere by a summary that the
// model writes, which any model reads back.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from '../support/property.ts';
import { streamFrames, wholeAnswer, type UpstreamWireName } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { modelOf } from '../support/model-of.ts';
import { until } from '../support/until.ts';
import { answerJson, answerSse, answerStatus, type Script } from '../support/upstream.ts';
import { rowOf } from '../support/rows.ts';
import { columnOf } from '../support/column-of.ts';

type Item = Readonly<Record<string, unknown>> & { readonly type: string };
type Answered = {
  readonly id: string;
  readonly object: string;
  readonly created_at: number;
  readonly status?: string;
  readonly output: readonly Item[];
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; cost: number };
};

const tokens = { input: 900, output: 70 };
const summary = 'The user wants “Äpfel”.\n\nNext: buy 3 of them.';

/** A model for each wire format whose provider does not compact. */
const summarised: Readonly<Record<string, { provider: string; wire: UpstreamWireName }>> = {
  'on-claude': { provider: 'anthropic', wire: 'messages' },
  'on-gemini': { provider: 'google', wire: 'gemini' },
  'on-chat': { provider: 'local', wire: 'chat' },
};
const paths: Readonly<Record<UpstreamWireName, readonly string[]>> = {
  responses: ['/v1/responses'],
  messages: ['/v1/messages'],
  chat: ['/local/v1/chat/completions'],
  gemini: [
    '/v1beta/models/upstream:generateContent',
    '/v1beta/models/upstream:streamGenerateContent',
  ],
};
const terms = { supports: { thinking: true }, prices: { input: 2, output: 10 } };
const model = (provider: string) => modelOf([{ provider, model: 'upstream' }], terms);
const costMicros = 900 * 2 + 70 * 10;

const gateway = await startGateway(({ url }) => ({
  providers: { brave: { base_url: `${url}/brave`, api_key: 'none' } },
  models: {
    'on-openai': model('openai'),
    ...Object.fromEntries(
      Object.entries(summarised).map(([name, { provider }]) => [name, model(provider)]),
    ),
  },
}));
after(() => gateway.stop());
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });

const trigger = { type: 'compaction_trigger' };
const history = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'Buy apples.' },
  { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: 'three' },
];
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const asked = {
  input: [...history, trigger],
  tools,
  reasoning: { effort: 'high' },
  text: { format: { type: 'json_object' }, verbosity: 'low' },
};

function play(wire: UpstreamWireName, text: string): void {
  const content = { text, tokens };
  const { start, deltas, end } = streamFrames(wire, content);
  const whole = answerJson(wholeAnswer(wire, content));
  const stream = answerSse([...start, ...deltas, ...end]);
  const script: Script = (response, request) => {
    const isStream =
      request.path.endsWith(':streamGenerateContent') ||
      (request.body as { stream?: boolean }).stream === true;
    return (isStream ? stream : whole)(response, request);
  };
  for (const path of paths[wire]) gateway.upstream.on(path, script);
}

async function post(body: object, headers: Readonly<Record<string, string>> = {}, path = '') {
  const reply = await gateway.post(`/v1/responses${path}`, { key, headers, body });
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

/** The response of an answer, whole or streamed. */
function responseIn(reply: Reply): Answered {
  if (!reply.text.startsWith('event:')) return reply.json<Answered>();
  return (reply.frames.at(-1)!.data as { response: Answered }).response;
}

for (const [name, { wire }] of Object.entries(summarised)) {
  for (const stream of [false, true])
    test(`${name}: a trigger gives one compaction item, ${stream ? 'streamed' : 'whole'}, which the model reads back`, async () => {
      play(wire, summary);
      const before = await gateway.balance(account);
      const { reply, asked: calls } = await gateway.recordUpstream(() =>
        post({ model: name, ...asked, stream }),
      );
      const { output, usage, status } = responseIn(reply);
      assert.equal(status, 'completed');
      assert.deepEqual(columnOf(output, 'type'), ['compaction']);
      assert.deepEqual(Object.keys(output[0]!).toSorted(), ['encrypted_content', 'id', 'type']);
      assert.equal(usage.input_tokens, tokens.input);
      assert.equal(Math.round(usage.cost * 1e6), costMicros);
      const { availableMicros, heldMicros } = await gateway.balance(account);
      assert.equal(before.availableMicros - availableMicros, costMicros);
      assert.equal(heldMicros, 0);
      // The conversation, its tools and the request for the summary went there, and no trigger.
      assert.equal(calls.length, 1);
      const sent = calls[0]!.text;
      for (const part of ['Be brief.', 'Buy apples.', 'three', 'look', 'Write a summary'])
        assert.ok(sent.includes(part), `${part} in ${sent}`);
      assert.ok(!sent.includes('compaction') && !sent.includes('json_object'), sent);
      if (stream) {
        const types = reply.frames.map(({ event }) => event);
        assert.deepEqual(types, [
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.output_item.done',
          'response.completed',
        ]);
      }
      for (const [other, { wire: otherWire }] of Object.entries({
        ...summarised,
        'on-openai': { wire: 'responses' as const },
      })) {
        play(otherWire, 'On it.');
        const back = await gateway.recordUpstream(() =>
          post({ model: other, input: [...output, { role: 'user', content: 'Go on.' }] }),
        );
        const read = JSON.stringify(back.asked[0]!.body);
        assert.ok(read.includes(JSON.stringify(summary).slice(1, -1)), `${other}: ${read}`);
        assert.ok(!read.includes('encrypted_content":"tg1'), read);
      }
    });
}

test('the hold counts the request for the summary, too', async () => {
  play('messages', summary);
  const hold = async (input: object[]) => {
    const reply = await post({ model: 'on-claude', input });
    const { hold_micros: micros } = await rowOf(gateway.database, 'charges', {
      id: reply.requestId,
    });
    return micros;
  };
  const added = (await hold([...history, trigger])) - (await hold(history));
  // At least 80 tokens, at $2 a million.
  assert.ok(added > 160, `${added} microdollars`);
});

test('OpenAI compacts its own conversations, and the item passes untouched both ways', async () => {
  const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA-of-openai' };
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'upstream', error: null };
  const done = {
    ...head,
    status: 'completed',
    output: [item],
    usage: { input_tokens: 900, output_tokens: 70, total_tokens: 970 },
  };
  const frames = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.compaction.compacting', output_index: 0, item_id: 'cmp_1' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: done },
  ].map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } }));
  gateway.upstream.on('/v1/responses', answerSse(frames), answerJson(done));
  for (const stream of [true, false]) {
    const { reply, asked: calls } = await gateway.recordUpstream(() =>
      post({ model: 'on-openai', ...asked, stream }),
    );
    assert.deepEqual(responseIn(reply).output, [item]);
    assert.equal(Math.round(responseIn(reply).usage.cost * 1e6), costMicros);
    const { input } = calls[0]!.body as { input: object[] };
    assert.deepEqual(input.at(-1), trigger);
  }
  const back = await gateway.recordUpstream(() =>
    post({ model: 'on-openai', input: [item, { role: 'user', content: 'Go on.' }] }),
  );
  assert.deepEqual((back.asked[0]!.body as { input: object[] }).input[0], item);
  const elsewhere = await gateway.postRecorded('/v1/responses', {
    key,
    body: { model: 'on-claude', input: [item, { role: 'user', content: 'Go on.' }] },
  });
  assert.equal(elsewhere.reply.status, 400);
  assert.equal(elsewhere.reply.error.param, 'input[0].type');
  assert.match(elsewhere.reply.error.message, /only the provider which compacted it can read/);
  assert.equal(elsewhere.asked.length, 0);
});

test('POST /v1/responses/compact keeps the user’s messages, on every model', async () => {
  for (const [name, { wire }] of Object.entries(summarised)) {
    play(wire, summary);
    const reply = await post(
      { model: name, input: history, instructions: 'Be kind.' },
      {},
      '/compact',
    );
    const { id, object, created_at: createdAt, output, usage, ...rest } = reply.json<Answered>();
    assert.deepEqual(rest, {});
    assert.match(id, /^resp_/);
    assert.equal(object, 'response.compaction');
    assert.ok(createdAt > 0);
    assert.equal(Math.round(usage.cost * 1e6), costMicros);
    assert.equal(reply.costMicros, costMicros);
    assert.deepEqual(output[0], {
      role: 'user',
      type: 'message',
      content: [{ type: 'input_text', text: 'Buy apples.' }],
    });
    assert.deepEqual(columnOf(output, 'type'), ['message', 'compaction']);
    const next = await gateway.recordUpstream(() => post({ model: name, input: output }));
    assert.match(next.asked[0]!.text, /Buy apples\.[\s\S]*buy 3 of them/);
  }
});

test('a compaction of a response that is not kept is refused: it would lose the conversation', async () => {
  play('messages', summary);
  const body = { model: 'on-claude', previous_response_id: 'resp_1' };
  for (const [path, input] of [
    ['', [...history, trigger]],
    ['/compact', history],
  ] as const) {
    const reply = await gateway.post(`/v1/responses${path}`, { key, body: { ...body, input } });
    assert.deepEqual([reply.status, reply.error.param], [400, 'previous_response_id'], reply.text);
  }
});

test('a warm-up of a compaction has no output, and there is none at /compact', async () => {
  play('messages', summary);
  const body = { model: 'on-claude', generate: false, previous_response_id: null };
  const warm = responseIn(await post({ ...body, input: [...history, trigger] }));
  assert.deepEqual([warm.status, warm.output, warm.usage.cost], ['completed', [], 0]);
  const made = responseIn(await post({ ...body, input: history }, {}, '/compact'));
  assert.equal(made.output.at(-1)!.type, 'compaction');
});

test('a compaction is replayed under its Idempotency-Key, at each address its own', async () => {
  play('messages', summary);
  const headers = { 'idempotency-key': 'compact-once' };
  const body = { model: 'on-claude', input: history };
  const first = await post(body, headers, '/compact');
  const again = await gateway.recordUpstream(() => post(body, headers, '/compact'));
  assert.deepEqual(again.reply.json<Answered>().output, first.json<Answered>().output);
  assert.equal(again.reply.costMicros, 0);
  assert.equal(again.asked.length, 0);
  const elsewhere = await gateway.post('/v1/responses', { key, headers, body });
  assert.equal(elsewhere.status, 422);
  const cached = { 'x-service-cache': 'true' };
  const whole = { model: 'on-claude', input: [...history, trigger] };
  const here = await post(whole, cached);
  const there = await post(whole, cached, '/compact');
  assert.deepEqual(
    [here.json<Answered>().object, there.json<Answered>().object],
    ['response', 'response.compaction'],
  );
});

for (const address of ['', '/compact'])
  for (const stream of address === '' ? [false, true] : [false])
    test(`a conversation without a summary is no compaction: an error, free, whose cost is a loss (${address || (stream ? 'streamed' : 'whole')})`, async () => {
      play('messages', ' \n ');
      const before = await gateway.balance(account);
      // No search is run for a summary.
      const body = { ...asked, tools: [...tools, { type: 'web_search' }] };
      const reply = await gateway.post(`/v1/responses${address}`, {
        key,
        body: { model: 'on-claude', ...body, stream },
      });
      assert.deepEqual([reply.status, reply.error.code], [502, 'upstream_error']);
      assert.deepEqual(await gateway.balance(account), before);
      await until(async () => (await gateway.lossesOf(reply.requestId)).length > 0);
      assert.deepEqual(await gateway.lossesOf(reply.requestId), [costMicros]);
    });

test('an answer that was cut before its summary says so, is charged, and loses no conversation', async () => {
  const cut = wholeAnswer('messages', { text: ' ', tokens });
  gateway.upstream.on('/v1/messages', answerJson({ ...cut, stop_reason: 'max_tokens' }));
  const before = await gateway.balance(account);
  const reply = await post({ model: 'on-claude', ...asked });
  const { status, output } = responseIn(reply);
  assert.deepEqual([status, output, reply.costMicros], ['incomplete', [], costMicros]);
  // This address has no status, and its output would have only the user's messages.
  const lost = await gateway.post('/v1/responses/compact', {
    key,
    body: { model: 'on-claude', input: history },
  });
  assert.equal(lost.status, 502, lost.text);
  const { postedMicros } = await gateway.balance(account);
  assert.equal(before.postedMicros - postedMicros, costMicros);
});

test('a summary that reached its limit is kept, and the answer says so', async () => {
  const limited = wholeAnswer('messages', { text: summary, tokens });
  gateway.upstream.on('/v1/messages', answerJson({ ...limited, stop_reason: 'max_tokens' }));
  const { status, output } = responseIn(await post({ model: 'on-claude', ...asked }));
  assert.equal(status, 'incomplete');
  assert.deepEqual(columnOf(output, 'type'), ['compaction']);
});

for (const [what, input, param] of [
  ['a trigger before the end', [trigger, ...history], 'input[0].type'],
  [
    'a damaged item',
    [{ type: 'compaction', encrypted_content: 'tg1.summary.{"text"' }],
    'input[0].encrypted_content',
  ],
  [
    'an item with another text',
    [{ type: 'compaction', encrypted_content: 'tg1.summary.{"text":7}' }],
    'input[0].encrypted_content',
  ],
  ['an item without content', [{ type: 'compaction', id: 'cmp_1' }], 'input[0].encrypted_content'],
] as const)
  test(`${what} is refused by its name, free of charge`, async () => {
    const before = await gateway.balance(account);
    for (const name of Object.keys(summarised)) {
      const body = { model: name, input: [...input, { role: 'user', content: 'Go on.' }] };
      const reply = await gateway.post('/v1/responses', { key, body });
      assert.equal(reply.status, 400, reply.text);
      assert.equal(reply.error.param, param);
    }
    assert.deepEqual(await gateway.balance(account), before);
  });

test('any summary comes back as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1_000 }),
      async (text) => {
        const written = text.toWellFormed().trim();
        fc.pre(written !== '');
        play('messages', written);
        const [stream, whole] = [
          responseIn(
            await post({ model: 'on-claude', input: [...history, trigger], stream: true }),
          ),
          responseIn(await post({ model: 'on-claude', input: [...history, trigger] })),
        ];
        assert.deepEqual(
          columnOf(stream.output, 'encrypted_content'),
          whole.output.map(({ encrypted_content: sealed }) => sealed),
        );
        const { asked: calls } = await gateway.recordUpstream(() =>
          post({
            model: 'on-claude',
            input: [...whole.output, { role: 'user', content: 'Go on.' }],
          }),
        );
        assert.ok(calls[0]!.text.includes(JSON.stringify(written).slice(1, -1)), calls[0]!.text);
      },
    ),
    { numRuns: 10 },
  );
});

test('test keys get a compaction of the sandbox', async () => {
  const { program } = gateway;
  for (const name of ['gpt-6-luna', 'claude-haiku-4-5'])
    for (const stream of [false, true]) {
      const reply = await gateway.post('/v1/responses', {
        key: program.firstTestKey,
        body: { model: name, ...asked, text: undefined, stream },
      });
      assert.equal(reply.status, 200, reply.text);
      const { output } = responseIn(reply);
      assert.deepEqual(columnOf(output, 'type'), ['compaction'], name);
    }
});

test('`background_options` is refused by its name', async () => {
  for (const name of ['on-openai', 'on-claude']) {
    const body = { model: name, input: 'Hi', background_options: { priority: 'low' } };
    const reply = await gateway.post('/v1/responses', { key, body });
    assert.equal(reply.status, 400);
    assert.equal(reply.error.param, 'background_options');
  }
});

test('a warm-up is answered at once, with an id, free of charge, and without the provider', async () => {
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.000001 });
  for (const name of ['on-openai', 'on-claude'])
    for (const stream of [false, true]) {
      const input = stream ? history : [];
      const body = { model: name, input, tools, reasoning: { effort: 'high' }, stream };
      const { reply, asked: calls } = await gateway.postRecorded('/v1/responses', {
        key: poor.key,
        body: { ...body, generate: false },
      });
      assert.equal(reply.status, 200, reply.text);
      const { id, status, output, usage } = responseIn(reply);
      assert.match(id, /^resp_/);
      assert.deepEqual([status, output], ['completed', []]);
      assert.deepEqual([usage.input_tokens, usage.output_tokens, usage.cost], [0, 0, 0]);
      assert.equal(calls.length, 0);
    }
  assert.deepEqual(await gateway.usage(poor.key), []);
});

test('Codex reads in the stream that its history is too long, and other clients in the status', async () => {
  const error = { message: 'maximum context length is 9 tokens', code: 'context_length_exceeded' };
  const refuse = answerStatus(400, { body: { type: 'error', error } });
  for (const path of Object.values(paths).flat()) gateway.upstream.on(path, refuse);
  const before = await gateway.balance(account);
  for (const name of ['on-openai', ...Object.keys(summarised)]) {
    const body = { model: name, stream: true, input: history, tools };
    const other = await gateway.post('/v1/responses', { key, body });
    assert.deepEqual([other.status, other.error.code], [400, error.code], other.text);
    const codex = await gateway.post('/v1/responses', {
      key,
      body: { ...body, client_metadata: { originator: 'codex' } },
    });
    assert.equal(codex.status, 200);
    const { event, data } = codex.frames.at(-1)!;
    const { response } = data as { response: { status: string; error: { code: string } } };
    assert.deepEqual(
      [event, response.status, response.error.code],
      ['response.failed', 'failed', error.code],
    );
  }
  assert.deepEqual(await gateway.balance(account), before);
});
