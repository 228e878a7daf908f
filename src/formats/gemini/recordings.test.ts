// Every recorded Gemini answer, read by the format and by a plain reading of the same bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Answer } from '../../canonical/answer.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { SseParser } from '../../lib/sse.ts';
import { UnreadableAnswer } from '../format.ts';
import { collect, parseSse, readAll, readRecordings, skipWithoutRecordings } from './fixture.ts';
import { readAnswer } from './read-answer.ts';

test('the recordings are there', (t) => skipWithoutRecordings(t));

type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- recordings have no type, and are read plainly

/** What anybody would read out of the chunks; no more is shared with the code under test than JSON. */
function readPlainly(chunks: readonly Json[]) {
  const candidates = chunks.flatMap((chunk): Json[] => chunk['candidates'] ?? []);
  const parts = candidates.flatMap((candidate): Json[] => candidate['content']?.parts ?? []);
  const join = (isThought: boolean) =>
    parts.map((part) => ((part['thought'] ?? false) === isThought ? (part['text'] ?? '') : '')).join('');
  return {
    text: join(false),
    thoughts: join(true),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall ? [`${functionCall.name}(${JSON.stringify(functionCall.args)})`] : [],
    ),
    signatures: parts
      .filter((part) => part['text'] !== undefined || part['functionCall'])
      .flatMap((part) => part['thoughtSignature'] ?? []),
    finish: candidates.findLast((candidate) => candidate['finishReason'])?.['finishReason'],
    usage: chunks.at(-1)!['usageMetadata'] as Json,
  };
}

function assertAgrees({ content, usage, stop }: Answer, chunks: readonly Json[]): void {
  const plain = readPlainly(chunks);
  const texts = (type: string) => content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  assert.equal(texts('text'), plain.text);
  assert.equal(texts('thinking'), plain.thoughts);
  assert.deepEqual(
    content.flatMap((part) => (part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : [])),
    plain.calls,
  );
  const sealed = content.flatMap((part) => (part.type === 'thinking' && part.signature ? [part.signature.value] : []));
  assert.deepEqual(
    sealed.map((value) => value.split('.').at(-1)),
    plain.signatures,
  );
  const natural = plain.calls.length > 0 ? 'tool-calls' : 'end';
  assert.equal(stop.reason, plain.finish === 'STOP' ? natural : plain.finish === 'MAX_TOKENS' ? 'length' : 'content-filter');
  // Google's own total is the sum of what is billed.
  if (plain.usage['totalTokenCount'])
    assert.equal(totalInputTokens(usage!) + usage!.outputTokens, plain.usage['totalTokenCount']);
}

/** Errors of the API, and a model that called a function that nobody had declared. */
const unreadable = /429-retry-info|invalid_role|name_suggestion|multimodal_tool_return_matrix_direct-binary-audio/;

for (const { name, text } of readRecordings('json')) {
  test(`${name} reads as it stands there`, () => {
    const body = JSON.parse(text) as Json;
    if (unreadable.test(name)) assert.throws(() => readAnswer(body), UnreadableAnswer);
    else assertAgrees(readAnswer(body), [body]);
  });
}

for (const { name, text } of readRecordings('stream')) {
  const events = parseSse(text);

  test(`${name} reads as it stands there`, () => {
    assertAgrees(
      collect(readAll(events))!,
      events.map(({ data }) => JSON.parse(data) as Json),
    );
  });

  test(`${name}: splitting the bytes anywhere changes nothing`, () => {
    const bytes = Buffer.from(text);
    const whole = readAll(events);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const split = places.slice(1).flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        assert.deepEqual(readAll([...split, ...parser.end()]), whole);
      }),
      { numRuns: 20 },
    );
  });

  test(`${name}: cut before its end, it is a failure`, () => {
    assert.equal(readAll(events.slice(0, -1)).at(-1)!.type, 'error');
  });
}
