// Faults between the turns of an answer whose web searches the gateway runs: each turn that the
// provider bills is charged, or booked as a loss.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { TestClock } from '../support/test-clock.ts';
import type { Turn } from '../support/turn-format.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { answerJson, answerSse, answerStatus, type Script } from '../support/upstream.ts';

const searchPath = '/brave/web/search';
const searchMicros = 5_000;
/** 20 tokens of input and 10 of output. */
const turnMicros = 20 * 3 + 10 * 15;

let gateway: TestGateway;
let key: string;
const clock = new TestClock();

before(async () => {
  gateway = await startGateway(
    (upstream) => ({
      providers: { brave: { base_url: `${upstream.url}/brave`, api_key: 'none' } },
      search: { price_usd: 0.005 },
      models: {
        claude: {
          routes: [{ provider: 'anthropic', model: 'claude-sonnet-4-5' }],
          prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
          context_tokens: 200_000,
          max_input_tokens: 180_000,
          max_output_tokens: 8_000,
          supports: { thinking: true, streaming: true, vision: false },
        },
      },
    }),
    { clock },
  );
  ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 50 }));
});
after(() => gateway.stop());

beforeEach(() => {
  const page = { title: 'T', url: 'https://www.example.com', description: 'Text.' };
  gateway.upstream.on(searchPath, answerJson({ web: { results: [page] } }));
});

const searchTurn: Turn = {
  thought: null,
  text: 'One moment.',
  calls: [{ id: 'call_1', name: 'web_search', arguments: { query: 'a' } }],
};
const answerTurn: Turn = { thought: null, text: 'It is high.', calls: [] };

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

const play = (...scripts: [Script, ...Script[]]) =>
  gateway.upstream.on('/v1/messages', ...scripts);

const ask = (fields: object) =>
  gateway.recordUpstream(() =>
    gateway.post('/v1/responses', {
      key,
      body: { model: 'claude', input: 'How high?', tools: [{ type: 'web_search' }], ...fields },
    }),
  );

/** Returns the response of a whole answer, or the last one of a stream. */
function responseOf(reply: Reply, stream: boolean): Json {
  assert.equal(reply.status, 200, reply.text);
  return stream ? (reply.frames.at(-1)!.data as Json)['response'] : reply.json<Json>();
}

async function lossOf({ requestId }: Reply): Promise<number> {
  const entries = await gateway.database.read
    .selectFrom('entries')
    .select('loss_micros')
    .where('id', 'like', `${requestId}%`)
    .execute();
  return entries.reduce((sum, entry) => sum + Number(entry.loss_micros), 0);
}

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'whole';

  test(`a next turn that cannot be written ends the answer, which is charged, ${kind}`, async () => {
    play(played(searchTurn), played(answerTurn));
    // With the model's own call there are too many values.
    const values = JSON.stringify({ list: Array.from({ length: 49_999 }, () => 1) });
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: values };
    const input = [
      { role: 'user', content: 'x' },
      call,
      { type: 'function_call_output', call_id: 'c', output: '1' },
    ];
    const { reply, asked } = await ask({ stream, input });
    const response = responseOf(reply, stream);
    assert.equal(asked.length, 2);
    assert.deepEqual(
      (response['output'] as Json[]).map(({ type }) => type),
      ['message', 'web_search_call'],
    );
    assert.equal(response['status'], 'completed');
    assert.equal(reply.costMicros, turnMicros + searchMicros);
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
    const { reply, asked } = await ask({ stream, input });
    assert.equal(asked.length, 4);
    responseOf(reply, stream);
    assert.equal(reply.costMicros, 2 * turnMicros + searchMicros);
    assert.equal(await lossOf(reply), 0);
  });
}
