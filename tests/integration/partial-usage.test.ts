// Providers that report only the input or only the output. The missing count is replaced by our
// own, in every pair of formats, whole and streamed, and the client sees what it is charged.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { startGateway } from '../support/gateway.ts';
import { pairModels, pairPrices, pairs } from '../support/pairs.ts';
import { readPlainly } from '../support/plain/read-plainly.ts';
import { answerJson, answerSse } from '../support/upstream.ts';

const gateway = await startGateway({ models: pairModels });
after(() => gateway.stop());

const text = 'one two three four';
/** Our count for 18 bytes. */
const ownOutput = 5;
const halves = [
  { name: 'no input', tokens: { input: 0, output: 20 } },
  { name: 'no output', tokens: { input: 100, output: 0 } },
] as const;

for (const half of halves) {
  for (const pair of pairs) {
    for (const stream of [false, true]) {
      test(`${half.name} is counted, ${pair.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const content = { text, tokens: half.tokens };
        const { start, deltas, end } = streamFrames(pair.upstream, content);
        const script = stream
          ? answerSse([...start, ...deltas, ...end])
          : answerJson(wholeAnswer(pair.upstream, content));
        gateway.upstream.on(pair.upstreamPath, script);
        const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
        const asked =
          pair.client.name === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
        const reply = await gateway.post(pair.client.path, {
          key,
          body: pair.body({ stream, ...asked }),
        });
        const { usage } = readPlainly(pair.client.name, stream, reply.text);
        assert.ok(usage, reply.text);
        if (half.tokens.input > 0) assert.deepEqual([usage.input, usage.output], [100, ownOutput]);
        else
          assert.ok(
            usage.input > 0 && usage.input < 100 && usage.output === 20,
            JSON.stringify(usage),
          );
        assert.equal(
          reply.costMicros,
          usage.input * pairPrices.input + usage.output * pairPrices.output,
        );
      });
    }
  }
}

test('encrypted thinking is charged as shown when the output was not counted', async () => {
  for (const pair of pairs.filter(({ upstream }) => upstream === 'messages')) {
    const sealed = { type: 'thinking', thinking: 'hm', signature: 'A'.repeat(4_000) };
    const message = wholeAnswer('messages', { text, tokens: { input: 100, output: 0 } }) as {
      content: object[];
    };
    gateway.upstream.on(
      pair.upstreamPath,
      answerJson({ ...message, content: [sealed, ...message.content] }),
    );
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const body = pair.body({ [pair.client.limitField]: 2_000 });
    const reply = await gateway.post(pair.client.path, { key, body });
    const { usage } = readPlainly(pair.client.name, false, reply.text);
    assert.ok(usage && usage.output > 750, `${pair.name}: ${reply.text}`);
    assert.equal(
      reply.costMicros,
      usage.input * pairPrices.input + usage.output * pairPrices.output,
      pair.name,
    );
  }
});
