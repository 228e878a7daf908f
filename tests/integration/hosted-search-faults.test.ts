// Faults between the turns of an answer whose web searches the gateway runs: each turn that the
// provider bills is charged, or booked as a loss.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import { columnOf } from '../support/column-of.ts';
import {
  answerTurn,
  costOf,
  hostedModel,
  responseOf,
  searchPath,
  searchTurn as turnOf,
  startHostedGateway,
} from '../support/hosted-gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { flushEventLoop } from '../support/test-clock.ts';
import type { Turn } from '../support/turn-format.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { until } from '../support/until.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';

const { gateway, clock, key, lossOf, firstRecord } = await startHostedGateway(
  {
    // Each with a route of its own, whose speed is not known yet.
    'hidden-1': hostedModel('local', '1'),
    'hidden-2': hostedModel('local', '2'),
    claude: hostedModel('anthropic', 'claude-sonnet-4-5', {
      prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    }),
    slow: hostedModel('anthropic', 'claude-sonnet-4-5', {
      supports: {},
      timeouts: { total_ms: 60_000, first_byte_ms: 60_000 },
    }),
  },
  { limits: { loss_budget_usd: 0.012 } },
);
after(() => gateway.stop());

beforeEach(() => {
  const page = { title: 'T', url: 'https://www.example.com', description: 'Text.' };
  gateway.upstream.on(searchPath, answerJson({ web: { results: [page] } }));
});

const searchTurn = turnOf('a');

const played =
  (turn: Turn, usage: object = {}): Script =>
  (response, request) => {
    const body = request.body as Json;
    const withUsage = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (name, part: object) =>
        name === 'usage' ? { ...part, ...usage } : part,
      );
    const script =
      body['stream'] === true
        ? answerSse(withUsage(messagesTurns.frames(turn)) as never)
        : answerJson(withUsage(messagesTurns.whole(turn)));
    return script(response, request);
  };

const play = (...scripts: [Script, ...Script[]]) => gateway.upstream.on('/v1/messages', ...scripts);

const asked = { model: 'claude', input: 'How high?', tools: [{ type: 'web_search' }] };
const ask = (fields: object) =>
  gateway.postRecorded('/v1/responses', { key, body: { ...asked, ...fields } });
const streamOf = (own: { readonly key: string }, fields: object = {}) =>
  gateway.open('/v1/responses', { key: own.key, body: { ...asked, stream: true, ...fields } });
const newKey = () => gateway.makeKey({ mode: 'live', creditUsd: 1 });

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'whole';

  test(`a next turn that cannot be written ends the answer, which is charged, ${kind}`, async () => {
    play(played(searchTurn), played(answerTurn));
    // With the model's own call there are too many values.
    const values = JSON.stringify({ list: Array.from({ length: 49_999 }, () => 1) });
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: values };
    const output = { type: 'function_call_output', call_id: 'c', output: '1' };
    const input = [{ role: 'user', content: 'x' }, call, output];
    const { reply, asked: calls } = await ask({ stream, input });
    const response = responseOf(reply, stream);
    assert.equal(calls.length, 2);
    assert.deepEqual(columnOf(response['output'] as Json[], 'type'), [
      'message',
      'web_search_call',
    ]);
    assert.equal(response['status'], 'completed');
    assert.equal(reply.costMicros, costOf(1, 1));
  });

  test(`thinking that a host has refused stays out of the next turn, ${kind}`, async () => {
    const body = { error: { message: 'Invalid `signature` in `thinking` block' } };
    const refused: Script = (response, request) =>
      (request.text.includes('"c3RhbGU="')
        ? answerStatus(400, { body })
        : played(request.text.includes('tool_result') ? answerTurn : searchTurn))(
        response,
        request,
      );
    play(refused);
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'tg1.anthropic.{"value":"c3RhbGU=","text":"Hm"}',
    };
    const said = { type: 'message', role: 'assistant', content: 'Hi' };
    const input = [{ role: 'user', content: 'x' }, thought, said, { role: 'user', content: 'y' }];
    const { reply, asked: calls } = await ask({ stream, input });
    assert.equal(calls.length, 4);
    responseOf(reply, stream);
    assert.equal(reply.costMicros, costOf(2, 1));
    assert.equal(await lossOf(reply), 0);
  });
}

/** A stream that begins with this, and that the test goes on writing. */
function begun(first: readonly SseFrame[]) {
  const answered = Promise.withResolvers<ServerResponse>();
  const script: Script = (response) => {
    answered.resolve(response.writeHead(200, { 'content-type': 'text/event-stream' }));
    response.write(framesText(first));
  };
  const write = async (frame: SseFrame) => (await answered.promise).write(framesText([frame]));
  return { script, write, answered: answered.promise };
}
const delta = (text: string) => {
  const type = 'content_block_delta';
  return { event: type, data: { type, index: 0, delta: { type: 'text_delta', text } } };
};

test('a client that leaves in a later turn pays for what the earlier one thought unseen', async () => {
  const text = 'word '.repeat(1_600);
  const later = begun([...messagesTurns.frames(answerTurn).slice(0, 2), delta(text)]);
  play(played(searchTurn, { output_tokens: 3_000 }), later.script);
  const own = await newKey();
  const { request, response } = streamOf(own);
  let seen = '';
  for await (const piece of await response) {
    seen += String(piece);
    if (seen.includes('word word')) break;
  }
  request.destroy();
  const record = await firstRecord(own.key, () => void later.write(delta(' and')));
  assert.ok(record['output_tokens'] >= 3_000 + 2_000, JSON.stringify(record));
});

test('what a later call bills without a stream is a loss', async () => {
  play(played(searchTurn), answerJson(messagesTurns.whole(answerTurn)));
  const { reply } = await ask({ stream: true });
  assert.equal(reply.frames.at(-1)!.event, 'response.failed');
  assert.equal(await lossOf(reply), costOf(2, 1));
});

test('a later call that hangs is a loss as any call that hangs', async () => {
  const lossOfCall = async () => {
    let reply: Reply | null = null;
    void ask({ stream: true, model: 'slow' }).then((done) => (reply = done.reply));
    await until(async () => {
      await clock.advance(200);
      return reply !== null;
    });
    assert.equal(reply!.frames.at(-1)!.event, 'response.failed');
    return lossOf(reply!);
  };
  play(hang);
  const alone = await lossOfCall();
  play(played(searchTurn), hang);
  const later = await lossOfCall();
  const more = later - alone - costOf(1, 1);
  // The silence is measured while the clock moves.
  assert.ok(alone > 50_000 && Math.abs(more) < 2_500, `${later} ${alone}`);
});

for (const stream of [false, true]) {
  test(`a host that counts far too much is paid for what its turns could read, ${stream ? 'streamed' : 'whole'}`, async () => {
    play(played(answerTurn, { input_tokens: 9_000_000 }));
    const { reply } = await ask({ stream, max_output_tokens: 1_000 });
    responseOf(reply, stream);
    // The question, and with each search its results and all output again.
    assert.ok(reply.costMicros! < 6 * 60_000 * 3, `${reply.costMicros}`);
    assert.equal(reply.costMicros! + (await lossOf(reply)), 9_000_000 * 3 + 10 * 15);
  });
}

test('thinking behind the first event of a stream is counted when its client leaves, with a search or without', async () => {
  const all = { id: 'c', object: 'chat.completion.chunk', created: 1 };
  const chunk = (said: object) => ({ data: { ...all, choices: [{ index: 0, delta: said }] } });
  const charged = async (model: string, tools: object[]) => {
    const answer = begun([chunk({ role: 'assistant', content: '' })]);
    gateway.upstream.on('/local/v1/chat/completions', answer.script);
    const own = await newKey();
    const fields = { model, input: 'x', tools, reasoning: { effort: 'high' } };
    const { request, response } = streamOf(own, fields);
    await answer.answered;
    for (let seconds = 0; seconds < 20; seconds++) {
      await flushEventLoop();
      await clock.advance(1_000);
    }
    await answer.write(chunk({ content: 'word word' }));
    for await (const piece of await response) if (String(piece).includes('word word')) break;
    request.destroy();
    const record = await firstRecord(own.key, () => void answer.write(chunk({ content: ' and' })));
    return record['output_tokens'] as number;
  };
  const without = await charged('hidden-1', []);
  assert.ok(without > 1_500, `${without}`);
  const withSearch = await charged('hidden-2', [{ type: 'web_search' }]);
  const difference = Math.abs(withSearch - without);
  assert.ok(difference < 200, `${difference} of ${without}`);
});

const noSuchPage = { type: 'invalid_request_error', message: 'no such page' };
const refuse = answerStatus(400, { body: { error: noSuchPage } });
const refuseInEvent = answerSse([{ event: 'error', data: { type: 'error', error: noSuchPage } }]);
for (const [kind, stream, refused] of [
  ['whole', false, refuse],
  ['streamed', true, refuse],
  ['by an event', true, refuseInEvent],
] as const) {
  test(`a later call that its host refuses counts against the loss budget, ${kind}`, async () => {
    const own = await newKey();
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++) {
      play(played(searchTurn), refused);
      const body = { ...asked, stream };
      statuses.push((await gateway.post('/v1/responses', { key: own.key, body })).status);
    }
    const failed = stream ? 200 : 400;
    assert.deepEqual(statuses, [failed, failed, failed, 403]);
    assert.equal((await gateway.balance(own.account)).postedMicros, 1_000_000);
  });
}

for (const stream of [false, true]) {
  test(`when a client leaves during a search, nothing more is asked for it, ${stream ? 'streamed' : 'whole'}`, async () => {
    const search = holdBack(answerJson({ web: { results: [] } }));
    gateway.upstream.on(searchPath, search.script);
    const [call] = searchTurn.calls;
    play(played({ ...searchTurn, calls: [call!, { ...call!, id: 'call_2' }] }));
    const own = await newKey();
    const earlier = gateway.upstream.requests.length;
    const { request, response } = streamOf(own, { stream });
    response.catch(() => {});
    await gateway.upstream.request(earlier + 1);
    request.destroy();
    for (let turns = 0; turns < 20; turns++) await flushEventLoop();
    search.release();
    const record = await firstRecord(own.key);
    assert.equal(gateway.upstream.requests.length, earlier + 2);
    assert.deepEqual([record['output_tokens'], record['web_searches']], [10, 1]);
  });
}
