// OpenAI withholds reasoning of earlier turns that is not the model's own, and says so in its
// answer: a Responses client reads it there, and the log has the reasons, whatever the client's
// format.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamFrames, wholeAnswer } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerJson, answerSse, type SseFrame } from '../support/upstream.ts';

const removed = (reason: unknown) => ({ id: 'rs_1', type: 'reasoning', action: 'removed', reason });
const input_transformations = [
  removed('model_mismatch'),
  removed('prefix_mismatch'),
  removed('model_mismatch'),
  removed('Words\nof a stranger'),
  removed(7),
  null,
];
const content = { text: 'Hello!', tokens: { input: 3, output: 2 } };

function withField(frame: SseFrame): SseFrame {
  if (typeof frame === 'string') return frame;
  const data = frame.data as { readonly type?: string; readonly response?: object };
  return data.type === 'response.completed'
    ? { ...frame, data: { ...data, response: { ...data.response, input_transformations } } }
    : frame;
}

test('withheld reasoning is in the answer as OpenAI says it, and its reasons are in the log', async (t) => {
  const gateway = await startGateway({
    log: { level: 'info' },
    models: {
      'on-responses': {
        routes: [{ provider: 'openai', model: 'up', api: 'responses' }],
        prices: { input: 1, output: 1 },
      },
    },
  });
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const { start, deltas, end } = streamFrames('responses', content);
  const whole = answerJson({ ...wholeAnswer('responses', content), input_transformations });
  const stream = answerSse([...start, ...deltas, ...end].map(withField));
  const lineOf = (id: string) =>
    until(async () =>
      gateway.program.output
        .split('\n')
        .find((line) => line.includes(id) && line.includes('"msg":"request"')),
    );
  for (const { name, path, body } of endpoints)
    for (const isStream of [false, true]) {
      gateway.upstream.on('/v1/responses', isStream ? stream : whole);
      const asked = body({ model: 'on-responses', stream: isStream });
      const reply = await gateway.post(path, { key, body: asked });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.text.includes('"input_transformations":'), name === 'responses');
      assert.match(
        await lineOf(reply.requestId),
        /"withheld_reasoning":"model_mismatch prefix_mismatch"/,
      );
    }
  gateway.upstream.on('/v1/responses', answerJson(wholeAnswer('responses', content)));
  const { requestId } = await gateway.post('/v1/responses', {
    key,
    body: { model: 'on-responses', input: 'Hi' },
  });
  assert.doesNotMatch(await lineOf(requestId), /withheld_reasoning/);
});
