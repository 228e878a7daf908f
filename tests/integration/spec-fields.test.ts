// The specification's statements about answers and request fields, in more depth than
// `tests/spec/`, which tests each statement once. Errors have their own test for `docs/errors.md`.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

type Json = Record<string, unknown>;

const responses = endpoint('responses');
const chat = endpoint('chat');
const messages = endpoint('messages');
const hello = 'Hello!';
const clock = new TestClock();

const gateway = await startGateway(
  { pricing: { markup: 1.5 }, aliases: { fast: 'gpt-6-luna' } },
  { clock },
);
const testKey = gateway.program.firstTestKey;
const liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
after(() => gateway.stop());

// ── The answers ──

test('whenever reasoning.effort is set, the first item is reasoning, whose summary may be empty', async () => {
  // A provider whose answer has no reasoning, and a model that does not think.
  gateway.answer(responses, { text: 'Hi there', tokens: { input: 5, output: 2 } });
  const typesOf = (items: Json[]) => items.map(({ type }) => type);
  for (const model of ['gpt-6-luna', 'gpt-4o']) {
    const body = responses.body({ model, reasoning: { effort: 'low' } });
    const { output } = (await ask(responses.path, body, liveKey)) as { output: Json[] };
    assert.deepEqual(typesOf(output), ['reasoning', 'message']);
    assert.deepEqual(output[0]!['summary'], []);

    const { frames } = await post(responses.path, { ...body, stream: true }, liveKey);
    const of = (type: string) =>
      frames.filter(({ event }) => event === type).map(({ data }) => data as Json);
    const added = of('response.output_item.added');
    assert.deepEqual(typesOf(added.map(({ item }) => item as Json)), ['reasoning', 'message']);
    assert.deepEqual(
      added.map(({ output_index: index }) => index),
      [0, 1],
    );
    const deltas = of('response.output_text.delta');
    assert.ok(
      deltas.length > 0 && deltas.every(({ output_index: index }) => index === 1),
      'later indices shift',
    );
    const final = (frames.at(-1)!.data as { response: { output: Json[] } }).response;
    assert.deepEqual(typesOf(final.output), ['reasoning', 'message']);
  }
});

test('the model of an answer is its catalogue id, whatever name was requested', async () => {
  const gpt = ['fast', 'openai/gpt-6-luna', 'gpt-6-luna-2026-09-22'];
  const claude = [20251001, 'latest'].map((version) => `claude-haiku-4-5-${version}`);
  for (const [id, at, names] of [
    ['gpt-6-luna', chat, gpt],
    ['gpt-6-luna', responses, gpt],
    ['claude-haiku-4-5', messages, [...claude, 'anthropic/claude-haiku-4-5']],
  ] as const)
    for (const model of names)
      assert.equal((await ask(at.path, at.body({ model })))['model'], id, model);
});

// ── The catalogue ──

test('a model list entry has its real date and owner, under its id too', async () => {
  const { data } = (await gateway.get('/v1/models')).json<{ data: Json[] }>();
  assert.ok(data.length > 20);
  // In seconds.
  for (const entry of data) assert.ok(Number(entry['created']) > 1_500_000_000);
  const entry = data.find(({ id }) => id === 'gpt-6-luna')!;
  assert.deepEqual(
    [entry['created'], entry['owned_by']],
    [Date.UTC(2026, 8, 22) / 1_000, 'openai'],
  );
  assert.deepEqual((await gateway.get('/v1/models/gpt-6-luna')).json(), entry);
  // An alias is listed under its own name.
  assert.equal((await gateway.get('/v1/models/fast')).json()['id'], 'fast');
});

/** Prices of the model, times a factor. */
function pricesTimes(factor: number): object {
  const times = (prices: object): object =>
    Object.fromEntries(
      Object.entries(prices).map(([name, usd]) => [name, Number((usd * factor).toFixed(6))]),
    );
  return {
    ...times({
      input_price_per_1m: 0.15,
      output_price_per_1m: 0.75,
      cache_write_price_per_1m: 0.1875,
      cache_write_1h_price_per_1m: 0.3,
      cache_read_price_per_1m: 0.015,
    }),
    price_tiers: [
      {
        above_input_tokens: 272_000,
        ...times({
          input_price_per_1m: 0.3,
          output_price_per_1m: 1.125,
          cache_write_price_per_1m: 0.375,
          cache_write_1h_price_per_1m: 0.6,
          cache_read_price_per_1m: 0.03,
        }),
      },
    ],
  };
}

test("model info has the fields of the specification, at list prices without a key and at the account's with one", async () => {
  const infoOf = async (key?: string) => {
    const { data } = (await gateway.get('/v1/models/info', { key })).json<{ data: Json[] }>();
    return data.find(({ id }) => id === 'gpt-6-luna')!;
  };
  const info = await infoOf();
  // $0.1 input, $0.5 output, $0.01 read from the cache, $0.125 written to it, times the markup of
  // 1.5, and the same of the tier. One-hour writes without a price cost twice the input.
  assert.deepEqual(info, {
    id: 'gpt-6-luna',
    display_name: 'GPT-6 Luna',
    context_window: 1_050_000,
    max_input_tokens: 1_050_000,
    max_prompt_tokens: 922_000,
    max_output_tokens: 128_000,
    supports_thinking: true,
    supports_streaming: true,
    supports_vision: true,
    supports_audio: false,
    ...pricesTimes(1),
    // Half of the price, and twice as much.
    price_variants: [
      { service_tier: 'flex', hours_utc: null, ...pricesTimes(0.5) },
      { service_tier: 'priority', hours_utc: null, ...pricesTimes(2) },
      { service_tier: 'batch', hours_utc: null, ...pricesTimes(0.5) },
    ],
    scheduled_prices: [],
    search_prices: { web_search: 0.015, web_search_preview: 0.015 },
  });

  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.database.write
    .updateTable('accounts')
    .set({ price_multiplier_ppm: 800_000 })
    .where('id', '=', account)
    .execute();
  const own = await infoOf(key);
  assert.deepEqual(
    [own['input_price_per_1m'], own['output_price_per_1m'], own['cache_read_price_per_1m']],
    [0.12, 0.6, 0.012],
    'a fifth less',
  );
  gateway.answer(chat, { text: 'yes', tokens: { input: 1_000, output: 100 } });
  assert.equal((await gateway.ask(chat, key)).costMicros, 180, 'charged as shown');

  const update = (multiplier: string, ...more: string[]) => {
    const options = ['--model', 'gpt-6-luna', '--price-multiplier', multiplier, ...more];
    return gateway.program.cli('accounts', 'update', account, ...options);
  };
  await update('0.5');
  await untilNoticed(clock, async () => (await infoOf(key))['output_price_per_1m'] === 0.375);
  // One model at half its price, rounded up once.
  assert.equal((await gateway.ask(chat, key)).costMicros, 113);
  await update('none', '--frozen', 'yes');
  // The ledger needs no poll to see that.
  assert.equal((await gateway.ask(chat, key)).status, 403);
  await untilNoticed(clock, async () => (await infoOf(key))['output_price_per_1m'] === 0.6);
});

// ── Balance and usage ──

test('a usage record has the fields of the specification; its model is the display name', async () => {
  const { key, id } = await gateway.makeKey();
  const reply = await post(chat.path, chat.body(), key);
  const [record] = await gateway.usage(key);
  assert.deepEqual(record, {
    created_at: record!['created_at'],
    model: 'GPT-6 Luna',
    model_id: 'gpt-6-luna',
    key_id: id,
    input_tokens: 2,
    output_tokens: 13,
    total_tokens: 15,
    cost_cents: reply.costMicros! / 10_000,
    request_id: reply.requestId,
  });
  assert.match(String(record['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Math.abs(Date.parse(String(record['created_at'])) - clock.nowMs()) < 60_000);
});

type Page = {
  readonly data: readonly { readonly request_id: string; readonly created_at: string }[];
  readonly next_cursor: string | null;
};

test('usage is paged, newest first, without gaps or repeats while new records arrive', async () => {
  const { key } = await gateway.makeKey();
  const page = async (query: string) =>
    (await gateway.get(`/v1/usage?${query}`, { key })).json<Page>();
  const run = async (count: number) => {
    const made = await Promise.all(
      Array.from({ length: count }, () => post(chat.path, chat.body(), key)),
    );
    return made.map(({ requestId }) => requestId);
  };
  const ids = await run(45);

  const first = await page('');
  assert.equal(first.data.length, 20, 'the default');
  await run(3);
  const second = await page(`cursor=${encodeURIComponent(first.next_cursor!)}`);
  await run(2);
  const third = await page(`cursor=${encodeURIComponent(second.next_cursor!)}&limit=20`);
  assert.equal(third.next_cursor, null, 'the last page');
  const seen = [...first.data, ...second.data, ...third.data];
  assert.deepEqual(seen.map((record) => record.request_id).toSorted(), ids.toSorted());
  const times = seen.map((record) => record.created_at);
  assert.deepEqual(times, times.toSorted().toReversed());

  assert.equal((await page('limit=100')).data.length, 50);
  const exact = await page('limit=50');
  assert.deepEqual(
    [exact.data.length, exact.next_cursor],
    [50, null],
    'a last page that is full has no next one',
  );
  const singles = await page('limit=1');
  assert.equal(singles.data.length, 1);
  assert.notEqual(singles.next_cursor, null);
});

test('the error for chat max_tokens names the setting, which may have another value or null', async () => {
  const refusal = await post(chat.path, chat.body({ max_tokens: 2_049 }));
  assert.match(refusal.error.message, /2048.*limits\.chat_max_tokens/);
  for (const [limit, status] of [
    [100, 400],
    [null, 200],
  ] as const) {
    const other = await startGateway({ limits: { chat_max_tokens: limit } });
    const limits = { max_completion_tokens: undefined, max_tokens: 20_000 };
    const reply = await other.ask(chat, other.program.firstTestKey, limits);
    assert.equal(reply.status, status, reply.text);
    await other.stop();
  }
});

test('an ignored previous_response_id is listed in the header and in `warnings` of every response object, on every path', async () => {
  const content = { text: 'yes', tokens: { input: 5, output: 1 } };
  for (const at of endpoints) gateway.answer(at, content);
  const ways = [
    ['gpt-6-luna', testKey],
    ['gpt-6-luna', liveKey],
    ['claude-haiku-4-5', liveKey],
  ] as const;
  for (const [model, key] of ways) {
    for (const stream of [false, true]) {
      const body = { model, stream, input: hello, previous_response_id: 'resp_1' };
      const reply = await post(responses.path, body, key);
      assert.equal(reply.status, 200, reply.text);
      assert.match(String(reply.headers['x-service-ignored']), /\bprevious_response_id\b/);
      const shown = stream
        ? reply.frames
            .map(({ data }) => (data as { response?: Json }).response)
            .filter((response) => response !== undefined)
        : [reply.json()];
      assert.ok(shown.length >= (stream ? 2 : 1));
      for (const { warnings } of shown) {
        const [warning, ...others] = warnings as Json[];
        assert.deepEqual(others, []);
        assert.equal(warning!['code'], 'previous_response_id_ignored');
        assert.equal(warning!['param'], 'previous_response_id');
        assert.match(String(warning!['message']), /whole conversation in `input`/);
      }
      const { previous_response_id: _, ...without } = body;
      assert.doesNotMatch((await post(responses.path, without, key)).text, /"warnings"/);
    }
  }
});

async function post(path: string, body: object, key = testKey): Promise<Reply> {
  return gateway.post(path, { key, body });
}

async function ask(path: string, body: object, key = testKey): Promise<Json> {
  const reply = await post(path, body, key);
  assert.equal(reply.status, 200, reply.text);
  return reply.json();
}
