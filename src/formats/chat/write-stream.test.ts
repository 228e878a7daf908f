import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callPart, textPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import { collect, pieceEvents } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import { SseParser } from '../../lib/sse.ts';
import { anyAnswer, contextFor, readAll } from '../../../tests/support/formats/chat.ts';
import { readAnswer } from './read-answer.ts';
import { writeAnswer } from './write-answer.ts';
import { writeStream } from './write-stream.ts';

const answer: Answer = {
  content: [textPart('Hé'), callPart('call_1')],
  stop: { reason: 'tool-calls', sequence: null },
  usage: {
    inputTokens: 5,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 4,
    reasoningTokens: 0,
  },
};

function write(written: Answer, fields = {}, size = 1_000): string {
  const pipe = writeStream(contextFor(fields));
  const frames = pieceEvents(written, size).map(pipe.push).join('') + pipe.end();
  assert.equal(pipe.progress.status, 'finished');
  return frames + pipe.close(0.000105);
}

function chunks(text: string): Record<string, unknown>[] {
  return parseSse(text)
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Record<string, unknown>);
}

test('a stream begins with the role, finishes in its own chunk, and ends with [DONE]', () => {
  const text = write(answer);
  const head = {
    id: 'chatcmpl-01kahw',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'catalogue/model',
  };
  const chunk = (delta: object, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  assert.deepEqual(chunks(text), [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hé' }),
    chunk({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
    chunk({}, 'tool_calls'),
  ]);
  assert.ok(text.endsWith('\n\ndata: [DONE]\n\n'));
});

test('usage is sent in a last chunk without choices, only to a client that asked', () => {
  assert.ok(!write(answer).includes('usage'));
  const asked = chunks(write(answer, { stream_options: { include_usage: true } }));
  assert.ok(asked.slice(0, -1).every((chunk) => chunk.usage === null));
  assert.deepEqual(asked.at(-1)!.choices, []);
  assert.deepEqual((asked.at(-1)!.usage as Record<string, unknown>).total_tokens, 9);
});

const blankBeforeRefusal: Answer = {
  ...answer,
  content: [
    { type: 'text', text: '\t' },
    { type: 'refusal', text: ' ' },
  ],
  stop: { reason: 'refusal', sequence: null },
};

test('a stream collects to the whole answer, however its texts and bytes are split', () => {
  fc.assert(
    fc.property(
      anyAnswer,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 50 }),
      (written, size, step) => {
        const bytes = Buffer.from(
          write(written, { stream_options: { include_usage: true } }, size),
        );
        const parser = new SseParser();
        const events = [];
        for (let start = 0; start < bytes.length; start += step)
          events.push(...parser.push(bytes.subarray(start, start + step)));
        assert.deepEqual(collect(readAll([...events, ...parser.end()])), written);
        assert.deepEqual(readAnswer(writeAnswer(written, contextFor())), written);
      },
    ),
    { examples: [[blankBeforeRefusal, 1, 1]] },
  );
});
