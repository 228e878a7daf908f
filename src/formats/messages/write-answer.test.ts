import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { Answer } from '../../canonical/answer.ts';
import { noUsage } from '../../canonical/usage.ts';
import { answerContext, answers, contextOf } from '../../../tests/support/formats/messages.ts';
import { readAnswer } from './read-answer.ts';
import { writeAnswer } from './write-answer.ts';

const stop = { reason: 'end', sequence: null } as const;
const usage = { ...noUsage, inputTokens: 5, outputTokens: 7 };
const asJson = (answer: Answer) =>
  JSON.parse(JSON.stringify(writeAnswer(answer, contextOf(answer)))) as unknown;

test('an answer survives being written and read', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      assert.deepEqual(readAnswer(asJson(answer)), answer);
    }),
  );
});

test('a text answer has every field of the specification', () => {
  const answer: Answer = {
    content: [textPart('Bonjour')],
    stop,
    usage: {
      inputTokens: 5,
      cacheReadTokens: 1,
      cacheWriteTokens: 2,
      cacheWrite1hTokens: 3,
      outputTokens: 7,
      reasoningTokens: 4,
    },
  };
  assert.deepEqual(asJson(answer), {
    id: 'msg_01kahw0000000000000000test',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    container: null,
    diagnostics: null,
    content: [textPart('Bonjour')],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 5,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 4 },
      server_tool_use: null,
      service_tier: 'standard',
      inference_geo: null,
      speed: null,
    },
  });
});

test('a refusal becomes text with its own stop reason', () => {
  const written = writeAnswer(
    { content: [{ type: 'refusal', text: 'No.' }], stop, usage },
    answerContext(),
  );
  assert.deepEqual(written.content, [textPart('No.')]);
  assert.equal(written.stop_reason, 'refusal');
});

test('every stop reason has its name', () => {
  const names = {
    end: 'end_turn',
    'stop-sequence': 'stop_sequence',
    'tool-calls': 'tool_use',
    length: 'max_tokens',
    'content-filter': 'refusal',
    refusal: 'refusal',
    pause: 'pause_turn',
  } as const;
  for (const [reason, name] of Object.entries(names)) {
    const written = writeAnswer(
      { content: [], stop: { reason: reason as keyof typeof names, sequence: null }, usage },
      answerContext(),
    );
    assert.equal(written.stop_reason, name);
  }
});

test('another vendor’s reasoning keeps its signature in sealed form, or gets one of ours', () => {
  const thinking = { type: 'thinking', text: 'Hm', redacted: false } as const;
  const content = [
    { ...thinking, signature: { vendor: 'openai', value: 'abc.def' } },
    { ...thinking, signature: { vendor: 'anthropic', value: 'Eq==' } },
    { ...thinking, signature: null },
    { ...thinking, text: '', redacted: true, signature: { vendor: 'google', value: 'g' } },
    { ...thinking, text: '', redacted: true, signature: null },
  ] as const;
  const written = writeAnswer({ content, stop, usage }, answerContext());
  assert.deepEqual(written.content, [
    { type: 'thinking', thinking: 'Hm', signature: 'tg1.openai.abc.def' },
    { type: 'thinking', thinking: 'Hm', signature: 'Eq==' },
    { type: 'thinking', thinking: 'Hm', signature: 'tg1.unsigned' },
    { type: 'redacted_thinking', data: 'tg1.google.g' },
  ]);
});

test('arguments that are not a JSON object keep their text in one field', () => {
  const call = { type: 'tool-call', id: 'a', name: 'b', kind: 'function' } as const;
  const inputs: Record<string, unknown> = {
    '{"city":"Paris"}': { city: 'Paris' },
    '': {},
    '{"city":"Par': { invalid_json_arguments: '{"city":"Par' },
    '[1]': { invalid_json_arguments: '[1]' },
  };
  for (const [text, input] of Object.entries(inputs)) {
    const written = writeAnswer(
      { content: [{ ...call, arguments: text }], stop, usage },
      answerContext(),
    );
    assert.deepEqual(written.content, [
      { type: 'tool_use', id: 'a', name: 'b', input, caller: { type: 'direct' } },
    ]);
  }
});
