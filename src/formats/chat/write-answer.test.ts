import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../../tests/support/canonical/answers.ts';
import { callPart, textPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { Answer } from '../../canonical/answer.ts';
import { anyAnswer, contextFor } from '../../../tests/support/formats/chat.ts';
import { readAnswer } from './read-answer.ts';
import { writeAnswer } from './write-answer.ts';

const answer: Answer = {
  content: [textPart('Hello')],
  stop: { reason: 'end', sequence: null },
  usage: {
    inputTokens: 5,
    cacheReadTokens: 3,
    cacheWriteTokens: 1,
    cacheWrite1hTokens: 1,
    outputTokens: 4,
    reasoningTokens: 2,
  },
};

test('a text answer is a chat completion with every field of the specification', () => {
  assert.deepEqual(writeAnswer(answer, contextFor()), {
    id: 'chatcmpl-01kahw',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'catalogue/model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
});

const message = (content: Answer['content']) =>
  (writeAnswer({ ...answer, content }, contextFor()).choices as { message: object }[])[0]!.message;

test('content is null only beside tool calls without text', () => {
  const call = callPart('call_1');
  assert.deepEqual(message([]), { role: 'assistant', content: '', refusal: null });
  assert.deepEqual(message([call]), {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
  });
});

test('every answer that Chat can express survives being written and read', () => {
  fc.assert(
    fc.property(anyAnswer, (written) => {
      const body: unknown = JSON.parse(JSON.stringify(writeAnswer(written, contextFor())));
      assert.deepEqual(readAnswer(body), written);
    }),
  );
});

const page = (citation: object) => ({
  type: 'url' as const,
  url: 'https://a.example',
  title: null,
  citedText: null,
  span: null,
  reference: null,
  ...citation,
});

test('citations refer to the message’s one text, and those of documents are left out', () => {
  const place = { unit: 'page' as const, start: 1, end: 2 };
  const document = {
    type: 'document' as const,
    documentIndex: 0,
    title: 'T',
    citedText: 'c',
    place,
  };
  const cited = answerOf(
    [
      textPart('Hello '),
      {
        type: 'text',
        text: 'world',
        citations: [page({}), document, page({ span: { start: 1, end: 3 }, title: 'A' })],
      },
    ],
    { usage: null },
  );
  const urls = [
    { url: 'https://a.example', title: '', start_index: 6, end_index: 11 },
    { url: 'https://a.example', title: 'A', start_index: 7, end_index: 9 },
  ];
  const [choice] = writeAnswer(cited, contextFor()).choices as {
    message: { annotations: unknown };
  }[];
  assert.deepEqual(
    choice!.message.annotations,
    urls.map((url) => ({ type: 'url_citation', url_citation: url })),
  );
});
