// Reads every Gemini answer, our own and the recorded ones, with the format and with a simple
// independent reader.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { Answer } from '../../canonical/answer.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { SseParser } from '../../lib/sse.ts';
import { eventsOf, type Json } from '../../../tests/support/plain/reading.ts';
import { readPlainly as readWholly } from '../../../tests/support/plain/read-plainly.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { UnreadableAnswer } from '../format.ts';
import { readAll } from '../../../tests/support/formats/gemini.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { readAnswer } from './read-answer.ts';

const answers = loadRecordings()
  .filter(({ format }) => format === 'gemini')
  .map(({ file, stream, bytes }) => ({ name: file, stream, text: bytes.toString('utf8') }));

/** The simple reader. It shares only JSON with the code under test. */
function readPlainly(chunks: readonly Json[]) {
  const candidates = chunks.flatMap((chunk): Json[] => chunk['candidates'] ?? []);
  const parts = candidates.flatMap((candidate): Json[] => candidate['content']?.parts ?? []);
  const join = (isThought: boolean) =>
    parts
      .map((part) => ((part['thought'] ?? false) === isThought ? (part['text'] ?? '') : ''))
      .join('');
  return {
    text: join(false),
    thoughts: join(true),
    calls: parts.flatMap(({ functionCall }) =>
      functionCall ? [`${functionCall.name}(${JSON.stringify(functionCall.args ?? {})})`] : [],
    ),
    signatures: parts
      .filter((part) => part['text'] !== undefined || part['functionCall'])
      .flatMap((part) => part['thoughtSignature'] ?? []),
    isBlocked: chunks.some((chunk) => chunk['promptFeedback']?.blockReason),
    finish: candidates.findLast((candidate) => candidate['finishReason'])?.['finishReason'],
    usage: (chunks.at(-1)!['usageMetadata'] ?? {}) as Json,
  };
}

function assertAgrees({ content, usage, stop }: Answer, chunks: readonly Json[]): void {
  const plain = readPlainly(chunks);
  const texts = (type: string) =>
    content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  assert.equal(texts('text'), plain.text);
  assert.equal(texts('thinking'), plain.thoughts);
  assert.deepEqual(
    content.flatMap((part) =>
      part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : [],
    ),
    plain.calls,
  );
  const sealed = content.flatMap((part) =>
    part.type === 'thinking' && part.signature ? [part.signature.value] : [],
  );
  assert.deepEqual(
    sealed.map((value) => value.split('.').at(-1)),
    plain.signatures,
  );
  const natural = plain.calls.length > 0 ? 'tool-calls' : 'end';
  assert.equal(
    stop.reason,
    plain.finish === 'STOP' && !plain.isBlocked
      ? natural
      : plain.finish === 'MAX_TOKENS'
        ? 'length'
        : 'content-filter',
  );
  // Google's total is the sum of what is billed.
  if (plain.usage['totalTokenCount'])
    assert.equal(totalInputTokens(usage!) + usage!.outputTokens, plain.usage['totalTokenCount']);
}

/**
 * Errors of the API, and a model that broke off because it called an undeclared function or wrote a
 * malformed call.
 */
function isFailure(stream: boolean, text: string): boolean {
  return readWholly('gemini', stream, text).stop === 'failed';
}

for (const { name, text } of answers.filter(({ stream }) => !stream)) {
  test(`${name} is read in full`, () => {
    const body = JSON.parse(text) as Json;
    if (isFailure(false, text)) assert.throws(() => readAnswer(body), UnreadableAnswer);
    else assertAgrees(readAnswer(body), [body]);
  });
}

for (const { name, text } of answers.filter(({ stream }) => stream)) {
  const events = parseSse(text);

  test(`${name} is read in full`, () => {
    const read = readAll(events);
    if (isFailure(true, text)) assert.equal(read.at(-1)!.type, 'error');
    else assertAgrees(collect(read)!, eventsOf(text));
  });

  test(`${name}: splitting the bytes anywhere changes nothing`, () => {
    const bytes = Buffer.from(text);
    const whole = readAll(events);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const split = places
          .slice(1)
          .flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        assert.deepEqual(readAll([...split, ...parser.end()]), whole);
      }),
      { numRuns: 20 },
    );
  });

  test(`${name}: without its finish reason, the stream fails`, () => {
    const end = events.findIndex(({ data }) => /"(?:finishReason|blockReason|error)":/.test(data));
    assert.equal(readAll(events.slice(0, end)).at(-1)!.type, 'error');
  });
}
