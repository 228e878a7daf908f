import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../tests/support/canonical/parts.ts';
import { anyUrl } from '../../tests/support/any-text.ts';
import fc from '../../tests/support/property.ts';
import { collect } from '../../tests/support/canonical/answers.ts';
import { record } from '../../tests/support/plain-record.ts';
import { eventsOf, type Answer } from './answer.ts';
import type { Citation, UrlCitation } from './citation.ts';
import { countOutputBytes, OutputMeter } from './output-bytes.ts';
import type { AssistantPart } from './request.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const anyCitation: fc.Arbitrary<Citation> = record<UrlCitation>({
  type: fc.constant('url' as const),
  url: anyUrl,
  title: fc.option(text),
  citedText: fc.option(text),
  span: fc.option(record({ start: fc.nat(9), end: fc.integer({ min: 10, max: 99 }) })),
  reference: fc.option(text),
});
const signature = record({
  vendor: fc.constantFrom('anthropic' as const, 'openai' as const),
  value: fc.base64String(),
});
const anyPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  record({ type: fc.constant('text' as const), text }),
  record({
    type: fc.constant('text' as const),
    text,
    citations: fc.array(anyCitation, { minLength: 1, maxLength: 3 }),
  }),
  record({ type: fc.constant('refusal' as const), text }),
  record({
    type: fc.constant('thinking' as const),
    text,
    signature: fc.option(signature),
    redacted: fc.boolean(),
  }),
  record({
    type: fc.constant('tool-call' as const),
    id: text,
    name: text,
    arguments: text,
    kind: fc.constant('function' as const),
  }),
  record({
    type: fc.constant('image' as const),
    source: record({ kind: fc.constant('url' as const), url: anyUrl }),
  }),
);
const anyAnswer: fc.Arbitrary<Answer> = record({
  content: fc.array(anyPart, { maxLength: 6 }),
  stop: fc.constant({ reason: 'end' as const, sequence: null }),
  usage: fc.constant(null),
});

test('the events of an answer, collected, are the answer', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      assert.deepEqual(collect(eventsOf(answer)), answer);
    }),
  );
});

test('a stream has generated as many bytes as the whole answer', () => {
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      const meter = new OutputMeter();
      for (const event of eventsOf(answer)) meter.addEvent(event);
      assert.equal(meter.bytes, countOutputBytes(answer.content));
    }),
  );
});

test('reasoning that is hidden in its signature counts by three quarters of the signature', () => {
  const hidden = {
    type: 'thinking' as const,
    signature: { vendor: 'openai' as const, value: 'A'.repeat(4_000) },
    redacted: true,
  };
  assert.equal(countOutputBytes([{ ...hidden, text: '' }]), 3_000);
});

test('reasoning whose text is as long as its signature is not counted twice', () => {
  const value = { vendor: 'anthropic' as const, value: 'A'.repeat(400) };
  const thinking = { type: 'thinking' as const, signature: value, redacted: false };
  assert.equal(countOutputBytes([{ ...thinking, text: 'x'.repeat(900) }]), 900);
  assert.equal(countOutputBytes([{ ...thinking, text: 'x'.repeat(10) }, textPart('done')]), 304);
});
