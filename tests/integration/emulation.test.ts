// Features that the gateway emulates for upstreams: stop sequences on Responses, JSON mode on
// Messages. Whole and streamed: what the client gets, and that all generated tokens are charged, by
// the provider's count if there is one.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { answerContent, streamFrames } from '../support/answers.ts';
import { BillingProvider } from '../support/billing-provider.ts';
import { addressed, clients, endpoint, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { pairModels, pairPrices } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { rowOf } from '../support/rows.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import {
  answerInParts,
  answerSse,
  framesText,
  resetInMidAnswer,
  thenHang,
} from '../support/upstream.ts';

const clock = new TestClock();

const free = (thinking: boolean) => ({
  routes: [{ provider: 'openai', model: 'upstream-model' }],
  supports: { thinking },
  prices: pairPrices,
});
const models = { ...pairModels, plain: free(false), thinks: free(true) };
const gateway = await startGateway({ models, log: { level: 'error' } }, { clock });
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 100 });
after(() => gateway.stop());

const chat = endpoint('chat');
const messages = endpoint('messages');
const responses = endpoint('responses');
/** Client formats with stop sequences. */
const stopClients: readonly [at: Endpoint, field: string][] = [
  [chat, 'stop'],
  [messages, 'stop_sequences'],
];
const tokens = { input: 100, output: 20 };
const wholeCost = 100 * pairPrices.input + 20 * pairPrices.output;

function bodyOf(at: Endpoint, fields: object): Record<string, unknown> {
  const asked =
    at.name === 'chat' && (fields as { stream?: boolean }).stream
      ? { stream_options: { include_usage: true } }
      : {};
  return at.body({ model: 'to-responses', ...asked, ...fields });
}

/** What a Messages client sends that stops at `STOP`. */
const stopped = (own = key) => ({
  key: own,
  body: bodyOf(messages, { stream: true, stop_sequences: ['STOP'] }),
});

describe('stop sequences on Responses', () => {
  for (const [at, field] of stopClients) {
    for (const stream of [false, true]) {
      test(`${at.name}, ${stream ? 'streamed' : 'whole'}: the text ends before the first stop sequence, and the rest is charged but not shown`, async () => {
        gateway.upstream.on(
          responses.upstreamPath,
          answerContent('responses', { text: 'one two STOP 😀 three', tokens }),
        );
        const next = gateway.upstream.requests.length;
        const reply = await gateway.post(at.path, {
          key,
          body: bodyOf(at, { stream, [field]: ['three', 'STOP 😀'] }),
        });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.headers['x-service-emulated'], field);
        const plain = readPlainly(at.name, stream, reply.text);
        assert.equal(plain.text, 'one two ');
        assert.match(
          reply.text,
          at.name === 'chat' ? /"finish_reason":"stop"/ : /"stop_reason":"stop_sequence"/,
        );
        if (at.name === 'messages') assert.match(reply.text, /"stop_sequence":"STOP 😀"/);
        assert.deepEqual([plain.usage?.input, plain.usage?.output], [100, 20]);
        assert.equal(reply.costMicros, wholeCost);
        assert.ok(!JSON.stringify((await gateway.upstream.request(next)).body).includes('STOP'));
      });
    }
  }

  const { start, deltas, end } = streamFrames('responses', {
    text: 'one two STOP three four',
    tokens,
  });

  test('text is sent as soon as it is generated, the end as soon as the usage is known', async () => {
    const parts = answerInParts([...start, ...deltas.slice(0, 3)], [...deltas.slice(3), ...end]);
    gateway.upstream.on(responses.upstreamPath, parts.script);
    const { response } = gateway.open(messages.path, stopped());
    let text = '';
    let isReleased = false;
    for await (const piece of await response) {
      text += String(piece);
      if (!isReleased && text.includes('two')) {
        assert.doesNotMatch(text, /message_stop/);
        parts.release();
        isReleased = true;
      }
    }
    assert.equal(readPlainly('messages', true, text).text, 'one two ');
    assert.match(text, /"output_tokens":20\b/);
  });

  test('an upstream that goes on is stopped after five seconds, and its output is charged by our own count', async () => {
    gateway.upstream.on(responses.upstreamPath, thenHang(framesText([...start, ...deltas]), sse));
    const next = gateway.upstream.requests.length;
    const answered = gateway.post(messages.path, stopped());
    const upstream = await gateway.upstream.request(next);
    await until(() => clock.dueIn(5_000) > 0);
    await clock.advance(5_000);
    assert.equal(await upstream.ended, 'aborted');
    const reply = await answered;
    assertCutShort(reply.text, reply.costMicros);
  });

  for (const fault of ['a reset', 'an error event'] as const) {
    test(`${fault} after the stop sequence changes neither the answer nor its charge`, async () => {
      const failed = {
        event: 'error',
        data: { type: 'error', code: 'server_error', message: 'it broke down' },
      };
      const broken = resetInMidAnswer([...start, ...deltas]);
      gateway.upstream.on(
        responses.upstreamPath,
        fault === 'a reset' ? broken.script : answerSse([...start, ...deltas, failed]),
      );
      const { response } = gateway.open(messages.path, stopped());
      let text = '';
      for await (const piece of await response) {
        text += String(piece);
        if (text.includes('two')) broken.release();
      }
      assertCutShort(text, null);
    });
  }

  for (const isCounted of [true, false]) {
    test(`a client that leaves before the usage arrives pays ${isCounted ? 'by the usage' : 'for the generated output'}`, async () => {
      const made = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
      const parts = answerInParts([...start, ...deltas], end);
      gateway.upstream.on(responses.upstreamPath, parts.script);
      const next = gateway.upstream.requests.length;
      const { request, response } = gateway.open(messages.path, stopped(made.key));
      const upstream = await gateway.upstream.request(next);
      let text = '';
      for await (const piece of await response) {
        text += String(piece);
        if (text.includes('two')) break;
      }
      request.destroy();
      // Waits for the usage, and for the end of reading after a client has left.
      await until(() => clock.dueIn(5_000) === 2);
      if (isCounted) parts.release();
      else await clock.advance(5_000);
      assert.equal(await upstream.ended, isCounted ? 'answered' : 'aborted');
      await until(async () => (await gateway.balance(made.account)).heldMicros === 0);
      const charge = await rowOf(gateway.database, 'charges', {
        ledger_id: `${made.account}:live`,
      });
      const { input_tokens: input, output_tokens: output, cost_micros: cost, ending } = charge;
      assert.deepEqual(
        [output, cost, ending],
        [isCounted ? 20 : 6, input * pairPrices.input + output * pairPrices.output, 'cut-off'],
      );
    });
  }

  /** Everything that arrived is charged, shown or not: 23 bytes are six tokens. */
  function assertCutShort(text: string, costMicros: number | null): void {
    const { text: shown, usage } = readPlainly('messages', true, text);
    assert.equal(shown, 'one two ');
    assert.match(text, /"stop_reason":"stop_sequence","stop_sequence":"STOP"/);
    assert.match(text, /message_stop/);
    assert.equal(usage?.output, 6);
    if (costMicros !== null)
      assert.equal(costMicros, usage.input * pairPrices.input + 6 * pairPrices.output);
  }
});

test('a model that supports stop sequences in Chat is called there; a thinking model is cut by the gateway', async () => {
  const ways = {
    plain: [chat.upstreamPath, ['STOP'], undefined],
    thinks: [responses.upstreamPath, undefined, 'stop_sequences'],
  } as const;
  for (const { name, upstreamPath } of [chat, responses])
    gateway.upstream.on(upstreamPath, answerContent(name, { text: 'x', tokens }));
  for (const [model, [path, stop, emulated]] of Object.entries(ways)) {
    const next = gateway.upstream.requests.length;
    const reply = await gateway.post(messages.path, {
      key,
      body: bodyOf(messages, { model, stop_sequences: ['STOP'] }),
    });
    assert.equal(reply.status, 200, reply.text);
    const sent = await gateway.upstream.request(next);
    assert.deepEqual([sent.path, (sent.body as { stop?: unknown }).stop], [path, stop]);
    assert.equal(reply.headers['x-service-emulated'], emulated);
  }
});

const sse = { headers: { 'content-type': 'text/event-stream' } };

test('the output that a provider bills until it is stopped is charged', async () => {
  const provider = new BillingProvider(clock);
  provider.serve(gateway.upstream);
  const state = { isOver: false };
  const all = (async () => {
    // The first one's usage arrives within five seconds; the others are stopped.
    for (const [index, words] of [300, 900, 3_000].entries()) {
      const asked = { name: `e${index}`, words };
      const { billed, charged, tokens: written } = await askBilled(provider, asked);
      assert.ok(written < 600, `stopped after ${written} tokens of ${words}`);
      if (words === 300) assert.equal(charged, billed);
      else assert.ok(Math.abs(charged / billed - 1) < 0.05, `billed ${billed}, charged ${charged}`);
    }
  })().finally(() => (state.isOver = true));
  while (!state.isOver) await clock.advance(10);
  await all;
});

type Asking = { readonly name: string; readonly words: number };

async function askBilled(provider: BillingProvider, { name, words }: Asking) {
  const speed = { queueMs: 0, hiddenTokens: 0, tokensPerSecond: 100, inputFactor: 1, until: 1 };
  provider.plan(name, [{ outcome: 'answers', words, ...speed }]);
  const fields = { stream: true, max_tokens: 8_000, stop_sequences: ['the the,the'] };
  const prompt = [{ role: 'user', content: `[${name}]${' the'.repeat(2_000)}` }];
  const balance = (await gateway.balance(account)).availableMicros;
  const reply = await gateway.post(messages.path, {
    key,
    body: bodyOf(messages, { ...fields, messages: prompt }),
  });
  assert.match(reply.text, /"stop_sequence":"the the,the"/);
  await until(() => provider.isIdle(name));
  const charged = balance - (await gateway.balance(account)).availableMicros;
  const [bill] = provider.bills.get(name)!;
  return {
    charged,
    billed: bill!.input * pairPrices.input + bill!.output * pairPrices.output,
    tokens: bill!.output,
  };
}

describe('JSON mode on Messages', () => {
  const text = 'Here you are:\n```json\n{"city": "Paris", "signs": "{}"}\n```\nAnything else?';
  const jsonClients: readonly [at: Endpoint, fields: object, field: string][] = [
    [chat, { response_format: { type: 'json_object' } }, 'response_format'],
    [responses, { text: { format: { type: 'json_object' } } }, 'text.format'],
  ];
  for (const [at, fields, field] of jsonClients) {
    for (const stream of [false, true]) {
      test(`${at.name}, ${stream ? 'streamed' : 'whole'}: the answer is a bare object, the model is instructed, and all output is charged`, async () => {
        gateway.upstream.on(messages.upstreamPath, answerContent('messages', { text, tokens }));
        const next = gateway.upstream.requests.length;
        const reply = await gateway.post(at.path, {
          key,
          body: bodyOf(at, { model: 'to-messages', stream, ...fields }),
        });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.headers['x-service-emulated'], field);
        assert.deepEqual(JSON.parse(readPlainly(at.name, stream, reply.text).text), {
          city: 'Paris',
          signs: '{}',
        });
        assert.equal(reply.costMicros, wholeCost);
        const sent = JSON.stringify((await gateway.upstream.request(next)).body);
        assert.match(sent, /single JSON object/);
        assert.doesNotMatch(sent, /json_object/);
      });
    }
  }
});

describe('a list as the schema of an answer, which OpenAI refuses', () => {
  const generationConfig = {
    responseMimeType: 'application/json',
    responseSchema: { type: 'ARRAY', items: { type: 'STRING' } },
  };
  const at = clients.find(({ name }) => name === 'gemini')!;
  for (const host of [chat, responses])
    for (const stream of [false, true])
      test(`${host.name}, ${stream ? 'streamed' : 'whole'}: the answer is the list alone, and all output is charged`, async () => {
        const answer = answerContent(host.name, { text: '{"answer":["a","b"]}', tokens });
        gateway.upstream.on(host.upstreamPath, answer);
        const next = gateway.upstream.requests.length;
        const model = `to-${host.name}`;
        const asked = addressed(at, at.body({ model, stream, generationConfig }));
        const reply = await gateway.post(asked.path, { key, body: asked.body });
        assert.equal(reply.status, 200, reply.text);
        const { text } = readPlainly(at.name, stream, reply.text);
        assert.deepEqual(JSON.parse(text), ['a', 'b']);
        const field = 'generationConfig.responseSchema';
        assert.equal(reply.headers['x-service-emulated'], field);
        assert.equal(reply.costMicros, wholeCost);
        const sent = JSON.stringify((await gateway.upstream.request(next)).body);
        assert.match(sent, /"schema":\{"type":"object","properties":\{"answer":\{"type":"array"/);
      });
});
