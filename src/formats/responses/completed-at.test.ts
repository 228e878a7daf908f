import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { answerContext, openPipe, playStream, writeWhole } from '../../../tests/support/pipes.ts';
import type { Json } from '../../../tests/support/plain/reading.ts';

const choice = (finish: string) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: finish }],
});

test('a completed response says when it completed, whole and streamed; others do not', () => {
  let nowSeconds = 1_763_683_200;
  const context = { ...answerContext('responses'), nowSeconds: () => nowSeconds };
  assert.equal(writeWhole('chat', 'responses', choice('stop'), context)!.completed_at, nowSeconds);
  assert.equal(writeWhole('chat', 'responses', choice('length'), context)!.completed_at, null);
  const pipe = openPipe('chat', 'responses', context);
  nowSeconds += 7;
  const events = Buffer.from(`data: ${JSON.stringify(choice('stop'))}\n\ndata: [DONE]\n\n`);
  const frames = parseSse(playStream(pipe, [events]).text).map(
    ({ data }) => JSON.parse(data) as Json,
  );
  const times = frames.flatMap(({ response }) => (response ? [response.completed_at] : []));
  assert.deepEqual(times, [null, null, nowSeconds]);
  nowSeconds += 1;
  assert.ok(
    pipe.close(1).includes(`"completed_at":${nowSeconds - 1}`),
    'the time is that of the end',
  );
});
